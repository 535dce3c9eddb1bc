package dev.sessionkeeper.server.security;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;

/** Records the acts of operators, and lets an administrator read them. */
public interface AuditLog {

  /** Writes an entry in a transaction of its own. */
  void record(Entry entry);

  /** Returns a page of entries, newest first. */
  Page<Row> read(Filter filter, Page.Request page);

  /**
   * An act of an operator.
   *
   * @param action such as {@code session.park}
   * @param target such as {@code orders/cust-42}
   * @param detail the given reason, and the effect of the act
   * @param count how many equal acts the entry stands for
   */
  record Entry(Actor actor, String action, String target, String detail, int count) {
    public static Entry of(Actor actor, String action, String target, String detail) {
      return new Entry(actor, action, target, detail, 1);
    }

    /** Returns the entry in the store's own type. */
    public dev.sessionkeeper.store.AuditLog.Entry toStore() {
      return new dev.sessionkeeper.store.AuditLog.Entry(actor, action, target, detail, "", count);
    }
  }
}
