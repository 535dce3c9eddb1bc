package dev.sessionkeeper.jobs;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.WhenFull;
import dev.sessionkeeper.coalescing.WriterOptions;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Collects the progress reports of runs, and writes the newest text of each regularly. A run never
 * waits for the write.
 */
final class ReportProgress implements AutoCloseable {
  private static final int MAX_TEXT = 200;
  private static final int MAX_RUNS = 1_000;
  private static final Duration LINGER = Duration.ofMillis(500);
  private static final Duration CLOSE = Duration.ofMillis(500);

  private final CoalescingWriter<ProgressTable.Run, String> writer;

  ReportProgress(Database database, JobOptions options) {
    writer =
        CoalescingWriter.builder(new ProgressTable(database))
            .options(
                WriterOptions.ofDefaults()
                    .withStripes(1)
                    .withLinger(LINGER, LINGER.multipliedBy(2))
                    .withRoomFor(MAX_RUNS, MAX_RUNS * 1_000L)
                    .withWhenFull(new WhenFull.Reject()))
            .time(options.time())
            .random(options.random())
            .build();
  }

  /** Returns the consumer of one run's progress reports. */
  Consumer<String> of(Claim claim) {
    var run = new ProgressTable.Run(claim.job(), claim.lease().epoch());
    var count = new AtomicLong();
    return text -> writer.submit(run, count.incrementAndGet(), shortened(text));
  }

  private static String shortened(String text) {
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
  }

  @Override
  public void close() {
    writer.close(CLOSE);
  }
}
