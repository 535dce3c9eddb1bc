package dev.sessionkeeper.coalescing;

import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Submits events at a steady rate while PostgreSQL freezes, continues and is killed; then closes
 * while it is frozen again, and lists all violations.
 *
 * <p>Run its main method for the long form: 1,000 events a second, 30 seconds without the database.
 */
final class SurviveOutage {
  private static final int KEYS = 200;
  private static final int MAX_ITEMS = 1_000;
  private static final long MAX_BYTES = 1 << 20;
  private static final Duration DEADLINE = Duration.ofSeconds(1);

  private final Map<String, Long> newest = new HashMap<>();
  private final List<String> violations = new ArrayList<>();
  private final int perSecond;
  private final Duration before;
  private final Duration outage;
  private final Duration after;
  private long accepted;
  private long mostBytes;

  SurviveOutage(int perSecond, Duration before, Duration outage, Duration after) {
    this.perSecond = perSecond;
    this.before = before;
    this.outage = outage;
    this.after = after;
  }

  /**
   * The result of a run.
   *
   * @param closedAfter how long the close took while the database was frozen
   */
  record Report(
      long accepted,
      WriterMetrics metrics,
      long bytesAtMost,
      Duration closedAfter,
      List<String> violations) {}

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 30;
    var report =
        new SurviveOutage(
                1_000, Duration.ofSeconds(5), Duration.ofSeconds(seconds), Duration.ofSeconds(5))
            .run();
    System.out.println(report);
    System.exit(report.violations().isEmpty() ? 0 : 1);
  }

  Report run() throws Exception {
    try (var postgres = new FrozenPostgres()) {
      var store = postgres.store();
      var writer =
          CoalescingWriter.builder(store)
              .options(WriterOptions.ofDefaults().withRoomFor(MAX_ITEMS, MAX_BYTES))
              .build();
      submit(writer, before);
      postgres.stop();
      submit(writer, outage);
      require(writer.health().status() != WriterHealth.Status.UP, "health hides the outage");
      postgres.goOn();
      submit(writer, after);
      postgres.kill();
      submit(writer, after);
      awaitDrained(writer);
      newest.forEach((key, version) -> requireStored(store, key, version));
      require(writer.health().status() == WriterHealth.Status.UP, "health did not come back");
      var metrics = writer.metrics();
      postgres.stop();
      var closedAfter = close(writer);
      return new Report(accepted, metrics, mostBytes, closedAfter, List.copyOf(violations));
    }
  }

  private void submit(CoalescingWriter<String, String> writer, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    long next = System.nanoTime();
    for (long event = accepted + 1; System.nanoTime() < end; event++) {
      var key = "stream" + event % KEYS;
      var stage = writer.submit(key, event, "event " + event).toCompletableFuture();
      if (stage.getNow(new Outcome.Superseded()) instanceof Outcome.Rejected) {
        violations.add("event " + event + " was rejected although its key is held");
      } else {
        accepted = event;
        newest.put(key, event);
      }
      mostBytes = Math.max(mostBytes, writer.metrics().bytes());
      require(mostBytes <= MAX_BYTES, "more bytes than allowed");
      next += TimeUnit.SECONDS.toNanos(1) / perSecond;
      while (System.nanoTime() < next) {
        Thread.onSpinWait();
      }
    }
  }

  private void awaitDrained(CoalescingWriter<String, String> writer) {
    try {
      await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Duration.ofMillis(10))
          .until(() -> writer.metrics().queueDepth() + writer.metrics().retryQueueDepth() == 0);
    } catch (ConditionTimeoutException e) {
      violations.add("not drained a minute after the database came back");
    }
  }

  private void requireStored(PostgresLastValueStore store, String key, long version) {
    long stored = read(store, key).map(LastValueStore.Entry::version).orElse(-1L);
    require(stored == version, key + " is stored as " + stored + ", accepted was " + version);
  }

  /** Reads a value, again after a timeout, which may occur on a stalled machine. */
  private static Optional<LastValueStore.Entry<String, String>> read(
      PostgresLastValueStore store, String key) {
    for (int attempt = 1; ; attempt++) {
      try {
        return store.read(key);
      } catch (KeeperException.Unavailable e) {
        if (attempt == 5) {
          throw e;
        }
      }
    }
  }

  private Duration close(CoalescingWriter<String, String> writer) {
    writer.submit("last", 1, "value");
    long began = System.nanoTime();
    var report = writer.close(DEADLINE);
    var took = Duration.ofNanos(System.nanoTime() - began);
    // A wide limit for a busy machine; a close that waits for its statement would take two seconds
    // more.
    require(took.compareTo(DEADLINE.plusMillis(900)) < 0, "close took " + took);
    require(report.unsaved().size() == 1, "the report names " + report.unsaved());
    return took;
  }

  private void require(boolean holds, String otherwise) {
    if (!holds && !violations.contains(otherwise)) {
      violations.add(otherwise);
    }
  }
}
