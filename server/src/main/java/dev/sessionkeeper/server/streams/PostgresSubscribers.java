package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.store.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** Stores the subscribers of all servers of a database. */
final class PostgresSubscribers implements Subscribers {
  private static final String SEE =
      """
      UPDATE keeper.stream_subscriber
         SET credential = ?, seen_at = clock_timestamp(), acknowledges = acknowledges OR ?
       WHERE stream = ? AND name = ? AND seen_at >= clock_timestamp() - make_interval(secs => ?)
      """; // stream_subscriber_pkey (stream, name)

  // Serialises new names, so that two concurrent ones cannot both take the last place.
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
      INSERT INTO keeper.stream_subscriber AS s (stream, name, credential, acknowledges)
      VALUES (?, ?, ?, ?)
      ON CONFLICT (stream, name) DO UPDATE
         SET credential = excluded.credential, seen_at = clock_timestamp(),
             acknowledges = s.acknowledges OR excluded.acknowledges
      """;
  private static final String ACKNOWLEDGING =
      "SELECT name FROM keeper.stream_subscriber WHERE stream = ? AND acknowledges";

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
    admit(new Visit(stream, name, credential, false));
  }

  @Override
  public void admitAcknowledging(String stream, String name, String credential) {
    admit(new Visit(stream, name, credential, true));
  }

  @Override
  public Set<String> acknowledging(String stream) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(ACKNOWLEDGING)) {
            statement.setString(1, stream);
            var names = new HashSet<String>();
            try (var rows = statement.executeQuery()) {
              while (rows.next()) {
                names.add(rows.getString(1));
              }
            }
            return names;
          }
        });
  }

  private record Visit(String stream, String name, String credential, boolean acknowledges) {}

  private void admit(Visit visit) {
    database.doInTransaction(
        connection -> {
          if (!see(connection, visit)) {
            lock(connection);
            requireRoom(connection, visit.stream(), visit.credential());
            add(connection, visit);
          }
        });
  }

  private boolean see(Connection connection, Visit visit) throws SQLException {
    try (var statement = connection.prepareStatement(SEE)) {
      statement.setString(1, visit.credential());
      statement.setBoolean(2, visit.acknowledges());
      statement.setString(3, visit.stream());
      statement.setString(4, visit.name());
      statement.setDouble(5, retentionSeconds());
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

  private static void add(Connection connection, Visit visit) throws SQLException {
    try (var statement = connection.prepareStatement(ADD)) {
      statement.setString(1, visit.stream());
      statement.setString(2, visit.name());
      statement.setString(3, visit.credential());
      statement.setBoolean(4, visit.acknowledges());
      statement.executeUpdate();
    }
  }
}
