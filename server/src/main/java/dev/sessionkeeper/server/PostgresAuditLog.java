package dev.sessionkeeper.server;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.store.AuditLog.Filter;
import dev.sessionkeeper.store.AuditLog.Row;
import dev.sessionkeeper.store.Database;

/** The audit log in the database. */
record PostgresAuditLog(Database database) implements AuditLog {
  @Override
  public void record(Entry entry) {
    database.doInTransaction(
        connection -> dev.sessionkeeper.store.AuditLog.write(connection, entry.toStore()));
  }

  @Override
  public Page<Row> read(Filter filter, Page.Request page) {
    return database.withConnection(
        connection -> dev.sessionkeeper.store.AuditLog.read(connection, filter, page));
  }
}
