package dev.sessionkeeper.cursors;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Submits events at a steady rate while the store goes away and comes back, then closes while it is
 * away again, and lists everything that should not have happened.
 *
 * <p>Run its main method for the long form: 1,000 events a second, 30 seconds without the store.
 */
final class SurviveOutage implements LastValueStore<String, String> {
  private static final int KEYS = 200;
  private static final int MAX_ITEMS = 1_000;
  private static final long MAX_BYTES = 1 << 20;

  private final MemoryLastValueStore<String, String> inner = MemoryLastValueStore.create();
  private final Map<String, Long> newest = new HashMap<>();
  private final List<String> violations = new ArrayList<>();
  private final AtomicLong calls = new AtomicLong();
  private final int perSecond;
  private final Duration before;
  private final Duration outage;
  private final Duration after;
  private volatile boolean down;
  private long accepted;

  SurviveOutage(int perSecond, Duration before, Duration outage, Duration after) {
    this.perSecond = perSecond;
    this.before = before;
    this.outage = outage;
    this.after = after;
  }

  record Report(long accepted, long storeCalls, long bytesAtMost, List<String> violations) {}

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
    var writer =
        CoalescingWriter.builder(this)
            .options(WriterOptions.ofDefaults().withRoomFor(MAX_ITEMS, MAX_BYTES))
            .build();
    submit(writer, before);
    down = true;
    submit(writer, outage);
    require(writer.health().status() != WriterHealth.Status.UP, "health hides the outage");
    long mostBytes = writer.metrics().bytes();
    down = false;
    submit(writer, after);
    awaitDrained(writer);
    newest.forEach(this::requireStored);
    closeWithTheStoreDown(writer);
    return new Report(accepted, calls.get(), mostBytes, List.copyOf(violations));
  }

  private void submit(CoalescingWriter<String, String> writer, Duration time) throws Exception {
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
      require(writer.metrics().bytes() <= MAX_BYTES, "more bytes than allowed");
      next += TimeUnit.SECONDS.toNanos(1) / perSecond;
      while (System.nanoTime() < next) {
        Thread.onSpinWait();
      }
    }
  }

  private void awaitDrained(CoalescingWriter<String, String> writer) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (writer.metrics().queueDepth() + writer.metrics().retryQueueDepth() > 0) {
      if (System.nanoTime() > end) {
        violations.add("not drained 30 seconds after the store came back");
        return;
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private void requireStored(String key, long version) {
    long stored = inner.read(key).map(Entry::version).orElse(-1L);
    require(stored == version, key + " is stored as " + stored + ", accepted was " + version);
  }

  private void closeWithTheStoreDown(CoalescingWriter<String, String> writer) {
    down = true;
    writer.submit("last", 1, "value");
    var deadline = Duration.ofSeconds(1);
    long began = System.nanoTime();
    var report = writer.close(deadline);
    long took = System.nanoTime() - began;
    require(took < deadline.multipliedBy(10).toNanos(), "close took " + took + " ns");
    require(report.unsaved().size() == 1, "the report names " + report.unsaved());
  }

  private void require(boolean holds, String otherwise) {
    if (!holds) {
      violations.add(otherwise);
    }
  }

  @Override
  public List<Result> write(List<Entry<String, String>> entries) {
    calls.incrementAndGet();
    if (down) {
      throw new KeeperException.Unavailable("The store");
    }
    return inner.write(entries);
  }

  @Override
  public void bury(Entry<String, String> entry, String cause) {
    throw new IllegalStateException("Nothing here is poison: " + cause);
  }

  @Override
  public Optional<Entry<String, String>> read(String key) {
    return inner.read(key);
  }
}
