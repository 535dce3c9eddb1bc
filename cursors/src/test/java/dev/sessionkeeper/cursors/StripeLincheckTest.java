package dev.sessionkeeper.cursors;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.cursors.LastValueStore.Entry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * A stripe with its store is, seen from outside, one register per key that keeps the highest
 * version: whatever interleaves, a submitted value is never out of sight.
 */
class StripeLincheckTest {

  @Test
  void aStripeNeverLosesSightOfAValue() {
    search().check(StripeAndStore.class);
  }

  /** The canary: if the search does not find this race, it proves nothing. */
  @Test
  void theSearchFindsAStripeThatForgetsWhatIsInFlight() {
    assertThatThrownBy(() -> search().check(ForgetfulStripe.class))
        .hasMessageContaining("Invalid execution results");
  }

  private static ModelCheckingOptions search() {
    return new ModelCheckingOptions()
        .iterations(8)
        .invocationsPerIteration(100)
        .minimizeFailedScenario(false)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(1)
        .sequentialSpecification(HighestVersions.class);
  }

  /** The stripe under test. Only one flush runs at a time, as the worker's turn guarantees. */
  @Param(name = "version", gen = IntGen.class, conf = "1:5")
  public static class StripeAndStore {
    private final Stripe<String, Integer> stripe =
        new Stripe<>(
            new Room(100, 100_000), WriterOptions.ofDefaults().withBatchSize(1), new Random(1));
    private final MemoryLastValueStore<String, Integer> store = MemoryLastValueStore.create();

    @Operation
    public void submit(@Param(name = "version") int version) {
      stripe.offer(new Entry<>("k", version, version), 1, 0);
    }

    @Operation(nonParallelGroup = "turn")
    public void flush() {
      for (var slot : stripe.take(Long.MAX_VALUE / 2)) {
        store.write(List.of(slot.entry()));
        stripe.settle(slot);
      }
    }

    @Operation(nonParallelGroup = "turn")
    public void failToFlush() {
      for (var slot : stripe.take(Long.MAX_VALUE / 2)) {
        stripe.fail(slot, "down", 0);
      }
    }

    @Operation
    public long newest() {
      long pending = stripe.newest("k").map(Entry::version).orElse(0L);
      return Math.max(pending, store.read("k").map(Entry::version).orElse(0L));
    }
  }

  /** The same without a place for what is in flight. */
  @Param(name = "version", gen = IntGen.class, conf = "1:5")
  public static class ForgetfulStripe {
    private final Map<String, Integer> dirty = new ConcurrentHashMap<>();
    private final Map<String, Integer> stored = new ConcurrentHashMap<>();

    @Operation
    public void submit(@Param(name = "version") int version) {
      dirty.merge("k", version, Math::max);
    }

    @Operation(nonParallelGroup = "turn")
    public void flush() {
      var version = dirty.remove("k");
      if (version != null) {
        stored.merge("k", version, Math::max);
      }
    }

    @Operation(nonParallelGroup = "turn")
    public void failToFlush() {
      var version = dirty.remove("k");
      if (version != null) {
        dirty.merge("k", version, Math::max);
      }
    }

    @Operation
    public long newest() {
      return Math.max(dirty.getOrDefault("k", 0), stored.getOrDefault("k", 0));
    }
  }

  /** What both claim to be. */
  public static class HighestVersions {
    private final Map<String, Integer> versions = new HashMap<>();

    public void submit(int version) {
      versions.merge("k", version, Math::max);
    }

    public void flush() {}

    public void failToFlush() {}

    public long newest() {
      return versions.getOrDefault("k", 0);
    }
  }
}
