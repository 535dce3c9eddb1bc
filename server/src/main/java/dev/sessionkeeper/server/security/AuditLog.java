package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who did what to what, and why. */
@FunctionalInterface
public interface AuditLog {

  /** Writes it down for good. */
  void record(Entry entry);

  /**
   * One act of a person.
   *
   * @param actor the name of the credential
   * @param action such as {@code session.park}
   * @param target such as {@code orders/cust-42}
   * @param detail the reason given, and what it did
   */
  record Entry(String actor, String action, String target, String detail) {
    public static Entry of(Caller caller, String action, String target, String detail) {
      return new Entry(caller.name(), action, target, detail);
    }
  }

  /** Keeps the entries in the log only, for engines that have no store of their own. */
  static AuditLog toLog() {
    Logger log = LoggerFactory.getLogger("audit");
    return entry ->
        log.info("{} {} {}: {}", entry.actor(), entry.action(), entry.target(), entry.detail());
  }
}
