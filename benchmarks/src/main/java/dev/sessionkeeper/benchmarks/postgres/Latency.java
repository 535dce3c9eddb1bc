package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** From send to handler at 1,000 messages per second of 16 senders, on 1,000 sessions. */
record Latency(DataSource database) {
  private static final int SENDERS = 16;
  private static final int SESSIONS = 1000;
  private static final long EVERY_NANOS = 16_000_000;

  void run(Duration duration) throws Exception {
    try (var arm = KeeperArm.open(database, SESSIONS)) {
      var load = new Load(SESSIONS, SENDERS);
      arm.consume(load);
      long end = System.nanoTime() + duration.toNanos();
      var threads = new Thread[SENDERS];
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        threads[i] = Thread.ofVirtual().start(() -> send(arm, load, sender, end));
      }
      Thread.sleep(duration.dividedBy(2));
      load.latencies.clear();
      for (var thread : threads) {
        thread.join();
      }
      Thread.sleep(500);
      PostgresBenchmark.print(
          String.format(
              Locale.ROOT,
              "latency at 1,000 msg/s: p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms; handled %d, open %d",
              load.latencies.millis(0.5),
              load.latencies.millis(0.99),
              load.latencies.millis(0.999),
              load.handled.get(),
              load.open()));
    }
  }

  private static void send(KeeperArm arm, Load load, int sender, long end) {
    try (var producer = arm.producer()) {
      long next = System.nanoTime() + ThreadLocalRandom.current().nextLong(EVERY_NANOS);
      while (next < end) {
        LockSupport.parkNanos(next - System.nanoTime());
        int session = ThreadLocalRandom.current().nextInt(SESSIONS);
        producer.send(new int[] {session}, new byte[][] {load.next(sender, session)});
        load.sent.increment();
        next += EVERY_NANOS;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
