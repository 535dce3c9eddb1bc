package dev.sessionkeeper.benchmarks.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;

/**
 * Single sends of 16 threads, compared with a plain insert of one row from each of 16 connections.
 */
record SingleInserts(String name) implements Cell {
  private static final int THREADS = 16;
  private static final int SESSIONS = 1000;

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
        Row.of(name, "plain single-row insert", plain, "msg/s"),
        Row.of(name, "single sends of the product", keeper, "msg/s"),
        Row.of(name, "ratio", Runs.ratios(plain, keeper, Double::doubleValue), "")
            .withGoal("≥ 0.8"));
  }

  private static double plain(DataSource database, Duration window) throws Exception {
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k bigint, payload bytea)");
    }
    return rate(() -> plainProducer(database), window);
  }

  private static Arm.Producer plainProducer(DataSource database) throws SQLException {
    var connection = database.getConnection();
    var insert = connection.prepareStatement("INSERT INTO plain (k, payload) VALUES (?, ?)");
    return new Arm.Producer() {
      @Override
      public void send(int[] sessions, byte[][] bodies) throws SQLException {
        insert.setLong(1, sessions[0]);
        insert.setBytes(2, bodies[0]);
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
    long end = System.nanoTime() + window.plusSeconds(2).toNanos();
    var threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      threads[i] = Thread.ofPlatform().start(() -> send(open, load, thread, sent, end));
    }
    Thread.sleep(Duration.ofSeconds(2));
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
        int session = ThreadLocalRandom.current().nextInt(SESSIONS);
        producer.send(new int[] {session}, new byte[][] {load.next(thread, session)});
        sent.increment();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
