package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs the writer on one thread over a store that fails, is slow, applies twice and applies late,
 * by a seed, so that a failure can be repeated.
 */
@Tag("slow")
class RandomFaultsTest {
  private static final int SEEDS = 300;
  private static final int STEPS = 400;
  private static final int KEYS = 12;

  @TestFactory
  List<DynamicTest> nothingAcceptedIsLostAndNoVersionFalls() {
    var tests = new ArrayList<DynamicTest>();
    for (int batch = 0; batch < SEEDS; batch += 50) {
      int from = batch;
      tests.add(
          DynamicTest.dynamicTest(
              "seeds " + from + " to " + (from + 49),
              () -> {
                for (int seed = from; seed < from + 50; seed++) {
                  new Run(seed, true).go();
                }
              }));
    }
    return tests;
  }

  @Test
  void theRunsFindAStoreThatLetsVersionsFall() {
    int found = 0;
    for (int seed = 0; seed < 50; seed++) {
      try {
        new Run(seed, false).go();
      } catch (AssertionError e) {
        found++;
      }
    }
    assertThat(found).as("runs that notice the missing comparison").isPositive();
  }

  /** One run. Time, faults and submits come from one random source. */
  private static final class Run implements LastValueStore<String, Long> {
    private final Random random;
    private final int seed;
    private final boolean compares;
    private final SettableClock clock = SettableClock.create();
    private final Map<String, Long> stored = new HashMap<>();
    private final Map<String, Long> accepted = new HashMap<>();
    private final Map<CompletionStage<Outcome>, Entry<String, Long>> stages = new HashMap<>();
    private final List<List<Entry<String, Long>>> late = new ArrayList<>();
    private final CoalescingWriter<String, Long> writer;
    private double trouble;

    Run(int seed, boolean compares) {
      this.seed = seed;
      this.compares = compares;
      this.random = new Random(seed);
      this.writer =
          CoalescingWriter.builder(this)
              .options(
                  WriterOptions.ofDefaults()
                      .withStripes(1 + random.nextInt(3))
                      .withBatchSize(1 + random.nextInt(5))
                      .withRoomFor(8, 1 << 20)
                      .withWhenFull(new WhenFull.Reject()))
              .time(clock)
              .random(random)
              .executor(Runnable::run)
              .build();
    }

    void go() {
      for (int step = 0; step < STEPS; step++) {
        if (step % 50 == 0) {
          trouble = random.nextBoolean() ? 0 : random.nextDouble();
        }
        step(step);
      }
      trouble = 0;
      late.clear();
      clock.advance(Duration.ofMinutes(2));
      check();
    }

    private void step(int step) {
      switch (random.nextInt(4)) {
        case 0 -> clock.advance(Duration.ofMillis(random.nextInt(20)));
        case 1 -> {
          if (!late.isEmpty()) {
            apply(late.remove(random.nextInt(late.size())));
          }
        }
        default -> submit("k" + random.nextInt(KEYS), step - random.nextInt(5));
      }
    }

    private void submit(String key, long version) {
      var stage = writer.submit(key, version, version);
      boolean refused =
          stage.toCompletableFuture().getNow(new Outcome.Superseded()) instanceof Outcome.Rejected;
      if (!refused) {
        accepted.merge(key, version, Math::max);
        stages.merge(
            stage, new Entry<>(key, version, version), (a, b) -> a.version() > b.version() ? a : b);
      }
    }

    private void check() {
      assertThat(stored).as("seed " + seed + ": stored = newest accepted").isEqualTo(accepted);
      stages.forEach(
          (stage, entry) ->
              assertThat(stage.toCompletableFuture().getNow(null))
                  .as("seed " + seed + ": " + entry)
                  .satisfiesAnyOf(
                      outcome -> assertThat(outcome).isEqualTo(new Outcome.Superseded()),
                      outcome ->
                          assertThat(outcome)
                              .isInstanceOfSatisfying(
                                  Outcome.Durable.class,
                                  durable ->
                                      assertThat(durable.version())
                                          .isGreaterThanOrEqualTo(entry.version()))));
      assertThat(writer.metrics().bytes()).as("seed " + seed + ": nothing is held").isZero();
      assertThat(writer.metrics().queueDepth() + writer.metrics().retryQueueDepth()).isZero();
      assertThat(clock.pendingTimers()).isZero();
    }

    @Override
    public List<Result> write(List<Entry<String, Long>> entries) {
      if (random.nextDouble() >= trouble) {
        return apply(entries);
      }
      switch (random.nextInt(4)) {
        case 0 -> throw new KeeperException.Unavailable("The store");
        case 1 -> {
          apply(entries);
          throw new KeeperException.OutcomeUnknown("A write that was applied", new Exception());
        }
        case 2 -> {
          late.add(List.copyOf(entries));
          throw new KeeperException.OutcomeUnknown("A write that comes late", new Exception());
        }
        default -> throw new StackOverflowError("a worker dies");
      }
    }

    private List<Result> apply(List<Entry<String, Long>> entries) {
      var results = new ArrayList<Result>();
      for (var entry : entries) {
        var before = stored.get(entry.key());
        if (before != null && before >= entry.version() && compares) {
          results.add(Result.SUPERSEDED);
        } else {
          assertThat(before == null || before <= entry.version()).as("no version falls").isTrue();
          stored.put(entry.key(), entry.version());
          results.add(Result.WRITTEN);
        }
      }
      return results;
    }

    @Override
    public void setAside(Entry<String, Long> entry, String cause) {
      throw new AssertionError("No value here is poison: " + entry);
    }

    @Override
    public Optional<Entry<String, Long>> read(String key) {
      return Optional.empty();
    }
  }
}
