package dev.sessionkeeper.benchmarks.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * Sends of 1,000 messages from four threads, compared with a plain insert of 1,000 rows from each
 * of four connections into one table with only a primary key.
 */
record BulkInserts(String name) implements Cell {
  private static final int THREADS = 4;
  private static final int BATCH = 1000;
  private static final int SESSIONS = 1000;
  private static final Duration WARM_UP = Duration.ofSeconds(2);
  private static final String TABLE =
      "CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k bigint, payload bytea)";
  private static final String INSERT = "INSERT INTO plain (k, payload) SELECT * FROM unnest(?, ?)";

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var plain = new ArrayList<Double>();
    var keeper = new ArrayList<Double>();
    for (int i = 0; i < bench.times().repetitions(); i++) {
      plain.add(plain(bench.fresh(), bench.times().window()));
      try (var arm = KeeperArm.open(bench.fresh(), SESSIONS)) {
        keeper.add(rate(arm::producer, bench.times().window()));
      }
    }
    return List.of(
        Row.of(name, "plain unnest(1000) insert", plain, "msg/s"),
        Row.of(name, "sends of 1,000 by the product", keeper, "msg/s"),
        Row.of(name, "ratio", Runs.ratios(plain, keeper, Double::doubleValue), "")
            .withGoal("≥ 0.4"));
  }

  private static double plain(DataSource database, Duration window) throws Exception {
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(TABLE);
    }
    return rate(() -> plainProducer(database), window);
  }

  private static Arm.Producer plainProducer(DataSource database) throws SQLException {
    var connection = database.getConnection();
    var insert = connection.prepareStatement(INSERT);
    var arrays = connection.unwrap(PGConnection.class);
    return new Arm.Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) throws SQLException {
        var keys = Arrays.stream(sessions).asLongStream().toArray();
        insert.setArray(1, arrays.createArrayOf("int8", keys));
        insert.setArray(2, arrays.createArrayOf("bytea", bodies));
        insert.executeUpdate();
      }

      @Override
      public void close() throws SQLException {
        connection.close();
      }
    };
  }

  /** Opens the connection or client with which a thread sends. */
  private interface Open {
    Arm.Producer producer() throws Exception;
  }

  private static double rate(Open open, Duration window) throws Exception {
    var load = new Load(SESSIONS, THREADS);
    var sent = new LongAdder();
    long end = System.nanoTime() + WARM_UP.plus(window).toNanos();
    var threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      threads[i] = Thread.ofPlatform().start(() -> send(open, load, thread, sent, end));
    }
    Thread.sleep(WARM_UP);
    long before = sent.sum();
    long began = System.nanoTime();
    for (var thread : threads) {
      thread.join();
    }
    return (sent.sum() - before) / ((System.nanoTime() - began) / 1e9);
  }

  private static void send(Open open, Load load, int thread, LongAdder sent, long end) {
    try (var producer = open.producer()) {
      while (System.nanoTime() < end) {
        var sessions = new int[BATCH];
        var bodies = new byte[BATCH][];
        for (int i = 0; i < BATCH; i++) {
          sessions[i] = i % SESSIONS;
          bodies[i] = load.next(thread, sessions[i]);
        }
        producer.send(sessions, bodies);
        sent.add(BATCH);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
