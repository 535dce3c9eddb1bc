package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.QueueFilter;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.store.Columns;
import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Stores bulk runs and their progress. */
final class BulkTable {
  private static final String COLUMNS =
      "id, act, queue, filter, actor, reason, state, total, done, changed, last_error, created_at,"
          + " updated_at, finished_at, source, bound, behind";
  private static final String ADD =
      """
      INSERT INTO keeper.bulk (id, act, queue, filter, actor, source, reason, total, bound)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;
  private static final String NEWEST =
      "SELECT "
          + COLUMNS
          + " FROM keeper.bulk WHERE ?::text[] IS NULL OR queue = ANY (?)"
          + " ORDER BY created_at DESC, id LIMIT 100";
  private static final String RUNNING =
      "SELECT count(*) FROM keeper.bulk WHERE state = 'running' AND queue = ?"; // bulk_running
  private static final String FIND = "SELECT " + COLUMNS + " FROM keeper.bulk WHERE id = ?";
  private static final String NEXT =
      "SELECT "
          + COLUMNS
          + " FROM keeper.bulk WHERE state = 'running' ORDER BY created_at LIMIT 1"; // bulk_running
  private static final String ADVANCE =
      """
      UPDATE keeper.bulk
         SET behind = ?, done = done + ?, changed = changed + ?, updated_at = clock_timestamp()
       WHERE id = ? AND state = 'running'
      """;
  private static final String END =
      """
      UPDATE keeper.bulk
         SET state = ?, last_error = ?, updated_at = clock_timestamp(), finished_at = clock_timestamp()
       WHERE id = ? AND state = 'running'
      """;

  private final Database database;

  BulkTable(Database database) {
    this.database = database;
  }

  /**
   * A run with the state that continues it.
   *
   * @param bound where the dry run ended
   * @param behind the last session or dead letter that was examined
   */
  record Row(BulkRun run, String source, String bound, String behind) {
    Actor actor() {
      return new Actor(run.actor(), source);
    }
  }

  Database database() {
    return database;
  }

  static void add(
      Connection connection,
      UUID id,
      QueueName queue,
      BulkRequest wish,
      Actor actor,
      long total,
      String bound)
      throws SQLException {
    try (var statement = connection.prepareStatement(ADD)) {
      statement.setObject(1, id);
      statement.setString(2, wish.act().toString());
      statement.setString(3, queue.value());
      statement.setString(4, wish.selected().json());
      statement.setString(5, actor.name());
      statement.setString(6, actor.source());
      statement.setString(7, wish.reason().orElse(""));
      statement.setLong(8, total);
      statement.setString(9, bound);
      statement.executeUpdate();
    }
  }

  /**
   * Returns the newest runs of these queues; runs of other queues do not count towards the limit.
   */
  List<BulkRun> newest(QueueFilter visible) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(NEWEST)) {
            var queues =
                switch (visible) {
                  case QueueFilter.All all -> null;
                  case QueueFilter.Only only ->
                      Columns.array(
                          connection,
                          "text",
                          only.queues().stream().map(QueueName::value).toList());
                };
            statement.setArray(1, queues);
            statement.setArray(2, queues);
            try (var rows = statement.executeQuery()) {
              var runs = new ArrayList<BulkRun>();
              while (rows.next()) {
                runs.add(row(rows).run());
              }
              return runs;
            }
          }
        });
  }

  /** Returns how many runs of the queue have not ended. */
  long running(QueueName queue) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(RUNNING)) {
            statement.setString(1, queue.value());
            try (var rows = statement.executeQuery()) {
              rows.next();
              return rows.getLong(1);
            }
          }
        });
  }

  Optional<Row> find(UUID id) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(FIND)) {
            statement.setObject(1, id);
            return first(statement.executeQuery());
          }
        });
  }

  /** Returns the run that has waited longest. */
  Optional<Row> next() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(NEXT)) {
            return first(statement.executeQuery());
          }
        });
  }

  /** Records the progress of a step. Returns false if the run was stopped meanwhile. */
  static boolean advance(Connection connection, UUID id, String behind, int done, int changed)
      throws SQLException {
    try (var statement = connection.prepareStatement(ADVANCE)) {
      statement.setString(1, behind);
      statement.setInt(2, done);
      statement.setInt(3, changed);
      statement.setObject(4, id);
      return statement.executeUpdate() == 1;
    }
  }

  static boolean end(Connection connection, UUID id, String state, String error)
      throws SQLException {
    try (var statement = connection.prepareStatement(END)) {
      statement.setString(1, state);
      statement.setString(2, error);
      statement.setObject(3, id);
      return statement.executeUpdate() == 1;
    }
  }

  private static Optional<Row> first(ResultSet rows) throws SQLException {
    try (rows) {
      return rows.next() ? Optional.of(row(rows)) : Optional.empty();
    }
  }

  private static Row row(ResultSet row) throws SQLException {
    return new Row(
        new BulkRun(
            row.getObject(1, UUID.class),
            row.getString(2),
            row.getString(3),
            new RawJson(row.getString(4)),
            row.getString(5),
            row.getString(6),
            row.getString(7),
            row.getLong(8),
            row.getLong(9),
            row.getLong(10),
            Optional.of(row.getString(11)).filter(error -> !error.isEmpty()),
            row.getObject(12, OffsetDateTime.class).toInstant(),
            row.getObject(13, OffsetDateTime.class).toInstant(),
            Optional.ofNullable(row.getObject(14, OffsetDateTime.class))
                .map(OffsetDateTime::toInstant)),
        row.getString(15),
        row.getString(16),
        row.getString(17));
  }
}
