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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Stores bulk runs and their progress. */
final class BulkTable {
  private static final String COLUMNS =
      "id, act, queue, filter, actor, reason, state, total, done, changed, last_error, created_at,"
          + " updated_at, finished_at, source, bound, behind, queues";
  private static final String ADD =
      """
      INSERT INTO keeper.bulk (id, act, queue, filter, actor, source, reason, total, bound, queues)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;
  private static final String NEWEST =
      "SELECT "
          + COLUMNS
          + " FROM keeper.bulk WHERE ?::text[] IS NULL OR queues <@ ? AND (queue = '' OR queue = ANY (?))"
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
   * @param queues of the bots that get events again; empty for runs of other acts
   * @param bound where the dry run ended
   * @param behind the last session or dead letter that was examined
   */
  record Row(BulkRun run, Set<QueueName> queues, String source, String bound, String behind) {
    /** Returns the queue of a run that has one. */
    QueueName queue() {
      return QueueName.of(run.queue().orElseThrow());
    }

    boolean isWithin(QueueFilter visible) {
      return visible instanceof QueueFilter.All
          || (queues.stream().allMatch(visible::includes)
              && run.queue().map(QueueName::of).map(visible::includes).orElse(true));
    }

    Actor actor() {
      return new Actor(run.actor(), source);
    }
  }

  /**
   * The queues of a run.
   *
   * @param queue the only one; empty if there are several
   * @param queues of the bots that get events again; empty for runs of other acts
   */
  record Target(Optional<QueueName> queue, Set<QueueName> queues) {
    static Target of(QueueName queue) {
      return new Target(Optional.of(queue), Set.of());
    }

    static Target of(Set<QueueName> queues) {
      return new Target(
          queues.size() == 1 ? queues.stream().findFirst() : Optional.empty(), queues);
    }

    /** Returns the value of the column queue. */
    String word() {
      return queue.map(QueueName::value).orElse("");
    }
  }

  Database database() {
    return database;
  }

  static void add(
      Connection connection,
      UUID id,
      Target target,
      BulkRequest wish,
      Actor actor,
      long total,
      String bound)
      throws SQLException {
    try (var statement = connection.prepareStatement(ADD)) {
      statement.setObject(1, id);
      statement.setString(2, wish.act().toString());
      statement.setString(3, target.word());
      statement.setString(4, wish.selected().json());
      statement.setString(5, actor.name());
      statement.setString(6, actor.source());
      statement.setString(7, wish.reason().orElse(""));
      statement.setLong(8, total);
      statement.setString(9, bound);
      statement.setArray(
          10,
          Columns.array(
              connection, "text", target.queues().stream().map(QueueName::value).toList()));
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
            statement.setArray(3, queues);
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

  /** Returns how many runs of the target's queue, or of several queues, have not ended. */
  long running(Target target) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(RUNNING)) {
            statement.setString(1, target.word());
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
            Optional.of(row.getString(3)).filter(queue -> !queue.isEmpty()),
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
        Arrays.stream((String[]) row.getArray(18).getArray())
            .map(QueueName::of)
            .collect(Collectors.toSet()),
        row.getString(15),
        row.getString(16),
        row.getString(17));
  }
}
