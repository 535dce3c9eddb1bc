package dev.sessionkeeper.sqs;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A state store in one table of PostgreSQL; every call is one statement. */
public final class PostgresSessionStateStore implements SessionStateStore {
  private final DataSource dataSource;

  private PostgresSessionStateStore(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * Uses the table {@code keeper_sqs_session} of this database, and creates it if it is missing.
   */
  public static PostgresSessionStateStore create(DataSource dataSource) {
    var store = new PostgresSessionStateStore(dataSource);
    store.createTable();
    return store;
  }

  private static final String CREATE_TABLE =
      """
      CREATE TABLE IF NOT EXISTS keeper_sqs_session (
        queue      text        NOT NULL,
        session    text        NOT NULL,
        epoch      bigint      NOT NULL,
        version    bigint      NOT NULL DEFAULT 0,
        state      bytea       NOT NULL DEFAULT ''::bytea,
        touched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (queue, session)
      )
      """;

  private void createTable() {
    run(
        connection -> {
          try (var statement = connection.createStatement()) {
            return statement.execute(CREATE_TABLE);
          }
        });
  }

  private static final String OPEN =
      """
      INSERT INTO keeper_sqs_session AS s (queue, session, epoch) VALUES (?, ?, ?)
      ON CONFLICT (queue, session) DO UPDATE
         SET epoch = greatest(s.epoch + 1, excluded.epoch), touched_at = clock_timestamp()
      RETURNING epoch
      """;

  @Override
  public long open(QueueName queue, SessionId session, long atLeast) {
    return run(
        connection -> {
          try (var statement = connection.prepareStatement(OPEN)) {
            statement.setString(1, queue.value());
            statement.setString(2, session.value());
            statement.setLong(3, atLeast);
            try (var row = statement.executeQuery()) {
              row.next();
              return row.getLong(1);
            }
          }
        });
  }

  private static final String READ =
      "SELECT state, version, epoch FROM keeper_sqs_session WHERE queue = ? AND session = ?";

  @Override
  public SessionState read(QueueName queue, SessionId session) {
    return run(connection -> find(connection, queue, session)).state();
  }

  private static Found find(Connection connection, QueueName queue, SessionId session)
      throws SQLException {
    try (var statement = connection.prepareStatement(READ)) {
      statement.setString(1, queue.value());
      statement.setString(2, session.value());
      try (var row = statement.executeQuery()) {
        return row.next()
            ? new Found(new SessionState(row.getBytes(1), row.getLong(2)), row.getLong(3))
            : new Found(SessionState.none(), 0);
      }
    }
  }

  private static final String WRITE =
      """
      UPDATE keeper_sqs_session
         SET state = ?, version = version + 1, touched_at = clock_timestamp()
       WHERE queue = ? AND session = ? AND epoch <= ? AND (version = ? OR ? = -1)
      RETURNING version
      """;

  @Override
  public SessionState write(
      QueueName queue, SessionId session, long epoch, SessionState.Write write) {
    return run(
        connection -> {
          try (var statement = connection.prepareStatement(WRITE)) {
            statement.setBytes(1, write.bytes());
            statement.setString(2, queue.value());
            statement.setString(3, session.value());
            statement.setLong(4, epoch);
            statement.setLong(5, write.expectedVersion());
            statement.setLong(6, write.expectedVersion());
            try (var row = statement.executeQuery()) {
              if (row.next()) {
                return new SessionState(write.bytes().clone(), row.getLong(1));
              }
            }
          }
          var found = find(connection, queue, session);
          throw found.epoch() > epoch || found.epoch() == 0
              ? new KeeperException.LockLost("session " + session, epoch)
              : new KeeperException.StaleState(
                  session, write.expectedVersion(), found.state().version());
        });
  }

  @Override
  public void forget(QueueName queue) {
    run(
        connection -> {
          try (var statement =
              connection.prepareStatement("DELETE FROM keeper_sqs_session WHERE queue = ?")) {
            statement.setString(1, queue.value());
            return statement.executeUpdate();
          }
        });
  }

  private <T> T run(Call<T> call) {
    try (var connection = dataSource.getConnection()) {
      return call.on(connection);
    } catch (SQLException e) {
      throw new KeeperException.Unavailable("The state store of SQS sessions", e);
    }
  }

  private interface Call<T> {
    T on(Connection connection) throws SQLException;
  }

  private record Found(SessionState state, long epoch) {}
}
