package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.AuditLog;
import dev.sessionkeeper.store.Database;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Optional;
import java.util.UUID;

/** Lists the outbox, and sends batches again. */
record UsageBatches(Database database) {
  private static final String LIST_NAME = "batches";

  private static final String COLUMNS =
      """
      batch_id, tenant_id, batch_no, records, sum_units, state, attempts, last_error, created_at,
             settled_at, encode(body_sha256, 'hex') AS sha256
      """
          .strip();

  private static final String FIND =
      "SELECT %s FROM keeper.usage_batch WHERE batch_id = ?".formatted(COLUMNS);

  private static final String REPLAY =
      """
      UPDATE keeper.usage_batch
         SET state = 'pending', refusals = 0, settled_at = NULL
       WHERE batch_id = ? AND state <> 'pending'
      """;

  private static final String DUE_NOW =
      "UPDATE keeper.usage_lane SET due_at = keeper.now(), failures = 0 WHERE tenant_id = ?";

  /** Returns batches, newest first. */
  Page<UsageBatch> list(
      Optional<UUID> tenant, Optional<UsageBatch.State> state, Page.Request page) {
    var where = new ArrayList<String>();
    var values = new ArrayList<Object>();
    tenant.ifPresent(
        id -> {
          where.add("tenant_id = ?");
          values.add(id);
        });
    state.ifPresent(
        wanted -> {
          where.add("state = ?");
          values.add(wanted.text());
        });
    page.cursor()
        .ifPresent(
            text -> {
              var key = PageCursor.keyOf(LIST_NAME, 2, text);
              where.add("(created_at, batch_id) < (?, ?)");
              try {
                values.add(Instant.parse(key.get(0)).atOffset(ZoneOffset.UTC));
                values.add(UUID.fromString(key.get(1)));
              } catch (IllegalArgumentException | DateTimeException e) {
                throw new KeeperException.InvalidCursor(text);
              }
            });
    values.add(page.limit() + 1);
    var sql =
        "SELECT %s FROM keeper.usage_batch %s ORDER BY created_at DESC, batch_id DESC LIMIT ?"
            .formatted(COLUMNS, where.isEmpty() ? "" : "WHERE " + String.join(" AND ", where));
    var found =
        database.withConnection(
            connection -> {
              try (var statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < values.size(); i++) {
                  statement.setObject(i + 1, values.get(i));
                }
                try (var rows = statement.executeQuery()) {
                  var batches = new ArrayList<UsageBatch>();
                  while (rows.next()) {
                    batches.add(batch(rows));
                  }
                  return batches;
                }
              }
            });
    return Page.of(
        found,
        page.limit(),
        last ->
            PageCursor.after(LIST_NAME, last.createdAt().toString(), last.batchId().toString()));
  }

  Optional<UsageBatch> find(UUID batch) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FIND)) {
            statement.setObject(1, batch);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(batch(rows)) : Optional.empty();
            }
          }
        });
  }

  /** Sends an acknowledged or refused batch again, with the same bytes under the same key. */
  boolean replay(UsageBatch batch, Actor actor) {
    return database.inTransaction(
        connection -> {
          try (var replay = connection.prepareStatement(REPLAY);
              var due = connection.prepareStatement(DUE_NOW)) {
            replay.setObject(1, batch.batchId());
            due.setObject(1, batch.tenantObjectId());
            due.executeUpdate();
            if (replay.executeUpdate() == 0) {
              return false;
            }
          }
          AuditLog.write(
              connection,
              new AuditLog.Entry(actor, "usage.replay", batch.batchId().toString(), "", ""));
          return true;
        });
  }

  private static UsageBatch batch(ResultSet rows) throws SQLException {
    return new UsageBatch(
        rows.getObject("batch_id", UUID.class),
        rows.getObject("tenant_id", UUID.class),
        rows.getLong("batch_no"),
        rows.getInt("records"),
        rows.getBigDecimal("sum_units"),
        UsageBatch.State.of(rows.getString("state")),
        rows.getInt("attempts"),
        Optional.ofNullable(rows.getString("last_error")),
        rows.getObject("created_at", OffsetDateTime.class).toInstant(),
        Optional.ofNullable(rows.getObject("settled_at", OffsetDateTime.class))
            .map(OffsetDateTime::toInstant),
        rows.getString("sha256"));
  }
}
