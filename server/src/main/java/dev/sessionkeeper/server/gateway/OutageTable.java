package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.operations.Sampled;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * Stores the outages of one queue in the database, which all servers share. Only the database's
 * clock counts. While no message of the queue has met an outage, no message costs a query.
 */
final class OutageTable {
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(2);
  private static final String AGAIN =
      """
      INSERT INTO keeper.bot_outage AS o (queue, message_id) VALUES (?, ?)
      ON CONFLICT (queue, message_id) DO UPDATE
         SET since = CASE o.times WHEN 0 THEN clock_timestamp() ELSE o.since END,
             times = o.times + 1, posts = o.posts + 1, touched_at = clock_timestamp()
      RETURNING extract(epoch FROM clock_timestamp() - since)::float8, times, posts
      """; // bot_outage_pkey
  private static final String FIND =
      """
      SELECT extract(epoch FROM clock_timestamp() - since)::float8, times, posts
        FROM keeper.bot_outage WHERE queue = ? AND message_id = ?
      """;
  private static final String ANSWERED =
      "UPDATE keeper.bot_outage SET times = 0 WHERE queue = ? AND message_id = ?";
  private static final String OVER =
      "DELETE FROM keeper.bot_outage WHERE queue = ? AND message_id = ?";
  private static final String ANY = "SELECT EXISTS (SELECT FROM keeper.bot_outage WHERE queue = ?)";
  private static final String FORGET =
      "DELETE FROM keeper.bot_outage WHERE touched_at < clock_timestamp() - interval '30 days'";

  private final Database database;
  private final QueueName queue;
  private final Sampled<Boolean> any;

  OutageTable(Database database, QueueName queue, TimeSource time) {
    this.database = database;
    this.queue = queue;
    this.any = new Sampled<>(false, this::hasRows, LOOK_AGAIN, time);
  }

  /** The outage of one message as it is stored. */
  record Stored(Duration lasted, int times, int posts) {}

  /** Counts one more failed post. */
  Stored again(MessageId message) {
    return database.inTransaction(
        connection -> {
          try (var statement = named(connection, AGAIN, message)) {
            return read(statement).orElseThrow();
          }
        });
  }

  /** Returns the outages that a message has met on all servers; empty if there were none. */
  Optional<Stored> find(MessageId message) {
    if (!any.get()) {
      return Optional.empty();
    }
    return database.withConnection(
        connection -> {
          try (var statement = named(connection, FIND, message)) {
            return read(statement);
          }
        });
  }

  void answered(MessageId message) {
    write(ANSWERED, message);
  }

  void over(MessageId message) {
    write(OVER, message);
  }

  /** Deletes outages of messages that are no longer in their queue. */
  static int forgetOld(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      return statement.executeUpdate(FORGET);
    }
  }

  private boolean hasRows() {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(ANY)) {
            statement.setString(1, queue.value());
            try (var rows = statement.executeQuery()) {
              rows.next();
              return rows.getBoolean(1);
            }
          }
        });
  }

  private void write(String sql, MessageId message) {
    database.doInTransaction(
        connection -> {
          try (var statement = named(connection, sql, message)) {
            statement.executeUpdate();
          }
        });
  }

  private PreparedStatement named(Connection connection, String sql, MessageId message)
      throws SQLException {
    var statement = connection.prepareStatement(sql);
    statement.setString(1, queue.value());
    statement.setString(2, message.value());
    return statement;
  }

  private static Optional<Stored> read(PreparedStatement statement) throws SQLException {
    try (var rows = statement.executeQuery()) {
      return rows.next()
          ? Optional.of(
              new Stored(
                  Duration.ofNanos((long) (Math.max(0, rows.getDouble(1)) * 1e9)),
                  rows.getInt(2),
                  rows.getInt(3)))
          : Optional.empty();
    }
  }
}
