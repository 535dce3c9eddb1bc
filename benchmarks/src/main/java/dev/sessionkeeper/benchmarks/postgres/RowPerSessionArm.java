package dev.sessionkeeper.benchmarks.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * The baseline: bare SQL with a row per session that producers and consumers both lock, as is usual
 * for queues on PostgreSQL. Four connections, eight sessions and fifty messages of each per claim,
 * completion and next claim in one commit, plans pinned. No duplicate detection, no time to live,
 * no retries.
 */
final class RowPerSessionArm implements Arm {
  private static final String SCHEMA =
      """
      CREATE TABLE sess (k bigint PRIMARY KEY, head bigint NOT NULL DEFAULT 0, state smallint NOT NULL,
        fence bigint NOT NULL DEFAULT 0, lock_until timestamptz, ready_at timestamptz NOT NULL DEFAULT now())
        WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
              autovacuum_vacuum_cost_delay = 0);
      CREATE INDEX sess_ready ON sess (ready_at) WHERE state = 1;
      CREATE TABLE msg (k bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, payload bytea NOT NULL,
        PRIMARY KEY (k, seq))
        WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
      """;
  private static final String SEND =
      """
      INSERT INTO sess AS s (k, state) SELECT k, 1 FROM unnest(?::bigint[]) g(k)
      ON CONFLICT (k) DO UPDATE SET state = 1, ready_at = excluded.ready_at WHERE s.state = 0;
      INSERT INTO msg (k, payload) SELECT * FROM unnest(?::bigint[], ?::bytea[])
      """;
  private static final String CLAIM =
      """
      WITH c AS (SELECT k FROM sess WHERE state = 1 ORDER BY ready_at LIMIT 8 FOR UPDATE SKIP LOCKED),
           u AS (UPDATE sess SET state = 2, lock_until = now() + interval '30 s', fence = fence + 1
                   FROM c WHERE sess.k = c.k RETURNING sess.k, sess.fence, sess.head)
      SELECT u.k, u.fence, m.seq, m.payload, u.head
        FROM u LEFT JOIN LATERAL (SELECT seq, payload FROM msg WHERE msg.k = u.k AND msg.seq > u.head
                                   ORDER BY seq LIMIT 50) m ON true
      """;
  private static final String COMPLETE =
      """
      SELECT 1 FROM sess WHERE k = ANY (?::bigint[]) ORDER BY k FOR UPDATE;
      WITH u AS (UPDATE sess SET head = t.s, ready_at = now(),
                        state = CASE WHEN EXISTS (SELECT FROM msg m WHERE m.k = sess.k AND m.seq > t.s) THEN 1 ELSE 0 END
                   FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) t(k, s, f, lo)
                  WHERE sess.k = t.k AND sess.fence = t.f AND sess.state = 2
                 RETURNING sess.k, sess.head, t.lo)
      DELETE FROM msg USING u WHERE msg.k = u.k AND msg.seq >= u.lo AND msg.seq <= u.head
      """;
  private static final String PINNED =
      """
      SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
      SET enable_mergejoin = off; SET enable_bitmapscan = off; SET jit = off
      """;
  private static final String DEADLOCK = "40P01";
  private static final int CONNECTIONS = 4;

  private final DataSource database;
  private final List<Thread> consumers = new ArrayList<>();
  private volatile boolean isConsuming;

  private RowPerSessionArm(DataSource database) {
    this.database = database;
  }

  /** Opens the contestant; the first process creates its tables. */
  static RowPerSessionArm open(DataSource database, boolean creates) throws SQLException {
    if (!creates) {
      return new RowPerSessionArm(database);
    }
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(SCHEMA);
    }
    return new RowPerSessionArm(database);
  }

  private Connection connect() throws SQLException {
    var connection = database.getConnection();
    try (var statement = connection.createStatement()) {
      statement.execute(PINNED);
    }
    return connection;
  }

  private static void set(PreparedStatement statement, int at, String type, Object array)
      throws SQLException {
    statement.setArray(
        at, statement.getConnection().unwrap(PGConnection.class).createArrayOf(type, array));
  }

  @Override
  public Producer producer() throws SQLException {
    var connection = connect();
    var statement = connection.prepareStatement(SEND);
    return new Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) throws SQLException {
        var keys = Arrays.stream(sessions).asLongStream().toArray();
        var order = Arrays.stream(keys).distinct().sorted().toArray();
        set(statement, 1, "int8", order);
        set(statement, 2, "int8", keys);
        set(statement, 3, "bytea", bodies);
        repeatedAfterDeadlock(statement);
      }

      @Override
      public void close() throws SQLException {
        connection.close();
      }
    };
  }

  private static void repeatedAfterDeadlock(PreparedStatement statement) throws SQLException {
    while (true) {
      try {
        statement.execute();
        return;
      } catch (SQLException e) {
        if (!DEADLOCK.equals(e.getSQLState())) {
          throw e;
        }
      }
    }
  }

  @Override
  public void consume(Load load) {
    isConsuming = true;
    for (int i = 0; i < CONNECTIONS; i++) {
      consumers.add(Thread.ofPlatform().daemon().start(() -> consumeUntilStopped(load)));
    }
  }

  private void consumeUntilStopped(Load load) {
    try (var connection = connect();
        var first = connection.prepareStatement(CLAIM);
        var next = connection.prepareStatement(COMPLETE + ";" + CLAIM)) {
      var held = new TreeMap<Long, Hold>();
      while (isConsuming || !held.isEmpty()) {
        int found;
        if (held.isEmpty()) {
          try (var rows = first.executeQuery()) {
            found = take(rows, held, load);
          }
        } else {
          bind(next, held);
          held.clear();
          repeatedAfterDeadlock(next);
          next.getMoreResults();
          next.getMoreResults();
          try (var rows = next.getResultSet()) {
            found = take(rows, held, load);
          }
        }
        if (found == 0 && held.isEmpty()) {
          Thread.sleep(1);
        }
      }
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A held session: fence, first and last handled message. */
  private record Hold(long fence, long first, long last) {}

  private static int take(ResultSet rows, Map<Long, Hold> held, Load load) throws SQLException {
    int found = 0;
    while (rows.next()) {
      long key = rows.getLong(1);
      long fence = rows.getLong(2);
      long seq = rows.getLong(3);
      if (rows.wasNull()) {
        held.put(key, new Hold(fence, Long.MAX_VALUE, rows.getLong(5)));
        continue;
      }
      load.handle(rows.getBytes(4));
      found++;
      var before = held.get(key);
      held.put(key, new Hold(fence, before == null ? seq : before.first, seq));
    }
    return found;
  }

  private static void bind(PreparedStatement statement, Map<Long, Hold> held) throws SQLException {
    var keys = held.keySet().stream().mapToLong(Long::longValue).toArray();
    set(statement, 1, "int8", keys);
    set(statement, 2, "int8", keys);
    set(statement, 3, "int8", held.values().stream().mapToLong(Hold::last).toArray());
    set(statement, 4, "int8", held.values().stream().mapToLong(Hold::fence).toArray());
    set(statement, 5, "int8", held.values().stream().mapToLong(Hold::first).toArray());
  }

  @Override
  public void stopConsuming() {
    isConsuming = false;
    try {
      for (var consumer : consumers) {
        consumer.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    consumers.clear();
  }

  @Override
  public void close() {
    stopConsuming();
  }
}
