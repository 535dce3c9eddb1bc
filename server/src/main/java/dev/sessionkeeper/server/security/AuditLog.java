package dev.sessionkeeper.server.security;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;

/** Keeps what people did, and lets an administrator read it. */
public interface AuditLog {

  /** Writes an entry in a transaction of its own. */
  void record(Entry entry);

  /** A page of entries, the newest first. */
  Page<Row> read(Filter filter, Page.Request page);

  /**
   * One act of a person.
   *
   * @param action such as {@code session.park}
   * @param target such as {@code orders/cust-42}
   * @param detail the reason given, and what the act did
   * @param count how many equal acts the entry stands for
   */
  record Entry(Actor actor, String action, String target, String detail, int count) {
    public static Entry of(Actor actor, String action, String target, String detail) {
      return new Entry(actor, action, target, detail, 1);
    }

    /** The entry as the store writes it. */
    public dev.sessionkeeper.store.AuditLog.Entry toStore() {
      return new dev.sessionkeeper.store.AuditLog.Entry(actor, action, target, detail, "", count);
    }
  }
}
