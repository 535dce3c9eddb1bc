package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A writer on one thread, with a clock that only the test moves, so that only the test's actions
 * happen.
 */
final class WriterFixture {
  static final Duration LINGER = Duration.ofMillis(5);

  final SettableClock clock = SettableClock.create();
  final ScriptedStore store;
  final List<Boolean> pressure = new ArrayList<>();
  final List<WriterListener.Flush> flushes = new ArrayList<>();
  final CoalescingWriter<String, String> writer;

  WriterFixture() {
    this(options());
  }

  WriterFixture(WriterOptions options) {
    this(options, new ScriptedStore());
  }

  WriterFixture(WriterOptions options, ScriptedStore store) {
    this.store = store;
    this.writer =
        CoalescingWriter.builder(store)
            .options(options)
            .time(clock)
            .random(new Random(1))
            .executor(Runnable::run)
            .listener(
                new WriterListener() {
                  @Override
                  public void pressureChanged(boolean high) {
                    pressure.add(high);
                  }

                  @Override
                  public void flushed(Flush flush) {
                    flushes.add(flush);
                  }
                })
            .build();
  }

  /**
   * Returns options with one stripe, batches of 10, a linger of 5 to 50 ms, room for 100 values,
   * and retries without jitter from 100 ms.
   */
  static WriterOptions options() {
    return WriterOptions.ofDefaults()
        .withStripes(1)
        .withBatchSize(10)
        .withLinger(LINGER, Duration.ofMillis(50))
        .withRoomFor(100, 1 << 20)
        .withRetry(
            new RetryPolicy(
                Integer.MAX_VALUE, Duration.ofMillis(100), 2, Duration.ofSeconds(5), 0));
  }

  Submitted submit(String key, long version) {
    return new Submitted(writer.submit(key, version, key + "@" + version));
  }

  void advance(long millis) {
    clock.advance(Duration.ofMillis(millis));
  }

  /** A submit and its result so far. */
  record Submitted(CompletionStage<Outcome> stage) {
    @Nullable Outcome outcome() {
      return stage.toCompletableFuture().getNow(null);
    }
  }
}
