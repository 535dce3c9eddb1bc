package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;

/** Knows the subscribers of all servers of a database. */
final class PostgresSubscribers implements Subscribers {
  private static final String SEE =
      """
      UPDATE keeper.stream_subscriber SET credential = ?, seen_at = clock_timestamp()
       WHERE stream = ? AND name = ? AND seen_at >= clock_timestamp() - make_interval(secs => ?)
      """; // stream_subscriber_pkey (stream, name)

  // New names wait for each other, so that two of them are not both the last one allowed.
  private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 8))";
  private static final String COUNT =
      """
      SELECT (SELECT count(*) FROM keeper.stream_subscriber
               WHERE stream = ? AND seen_at >= clock_timestamp() - make_interval(secs => ?)),
             (SELECT count(*) FROM keeper.stream_subscriber
               WHERE credential = ? AND seen_at >= clock_timestamp() - make_interval(secs => ?))
      """; // stream_subscriber_pkey (stream, name), stream_subscriber_credential (credential)
  private static final String ADD =
      """
      INSERT INTO keeper.stream_subscriber (stream, name, credential) VALUES (?, ?, ?)
      ON CONFLICT (stream, name) DO UPDATE
         SET credential = excluded.credential, seen_at = clock_timestamp()
      """;

  private final Database database;
  private final Supplier<StreamsConfig> config;

  PostgresSubscribers(Database database, Supplier<StreamsConfig> config) {
    this.database = database;
    this.config = config;
  }

  private double retentionSeconds() {
    return config.get().retention().toMillis() / 1000.0;
  }

  @Override
  public void admit(String stream, String name, String credential) {
    database.doInTransaction(
        connection -> {
          if (!see(connection, stream, name, credential)) {
            lock(connection);
            requireRoom(connection, stream, credential);
            add(connection, stream, name, credential);
          }
        });
  }

  private boolean see(Connection connection, String stream, String name, String credential)
      throws SQLException {
    try (var statement = connection.prepareStatement(SEE)) {
      statement.setString(1, credential);
      statement.setString(2, stream);
      statement.setString(3, name);
      statement.setDouble(4, retentionSeconds());
      return statement.executeUpdate() > 0;
    }
  }

  private static void lock(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(LOCK)) {
      statement.setString(1, "stream-subscribers");
      statement.execute();
    }
  }

  private void requireRoom(Connection connection, String stream, String credential)
      throws SQLException {
    try (var statement = connection.prepareStatement(COUNT)) {
      statement.setString(1, stream);
      statement.setDouble(2, retentionSeconds());
      statement.setString(3, credential);
      statement.setDouble(4, retentionSeconds());
      try (var rows = statement.executeQuery()) {
        rows.next();
        config.get().subscriberLimits().require(rows.getLong(1), rows.getLong(2));
      }
    }
  }

  private static void add(Connection connection, String stream, String name, String credential)
      throws SQLException {
    try (var statement = connection.prepareStatement(ADD)) {
      statement.setString(1, stream);
      statement.setString(2, name);
      statement.setString(3, credential);
      statement.executeUpdate();
    }
  }
}
