package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A stripe with its store behaves like one register per key that keeps the highest version: under
 * any interleaving, a submitted value stays visible.
 */
@Tag("slow")
class StripeLincheckTest {

  @Test
  void aStripeNeverLosesSightOfAValue() {
    search(5).check(StripeAndStore.class);
  }

  /**
   * Checks the search itself with a planted bug: a search that does not find this race would prove
   * nothing.
   */
  @Test
  void theSearchFindsAStripeThatForgetsWhatIsInFlight() {
    assertThatThrownBy(() -> search(60).check(ForgetfulStripe.class))
        .hasMessageContaining("Invalid execution results");
  }

  private static ModelCheckingOptions search(int scenarios) {
    return new ModelCheckingOptions()
        // Only used under the stripe's lock, or thread-safe: no thread switches inside.
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(
                    name -> name.startsWith("java.util.") && !name.contains("locks"))
                .allMethods()
                .treatAsAtomic())
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(
                    RetryPolicy.class.getName(), MemoryLastValueStore.class.getName())
                .allMethods()
                .treatAsAtomic())
        .iterations(scenarios)
        .invocationsPerIteration(60)
        .minimizeFailedScenario(false)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(1)
        .sequentialSpecification(HighestVersions.class);
  }

  /** The stripe under test. Only one flush runs at a time, as in a worker. */
  @Param(name = "version", gen = IntGen.class, conf = "1:5")
  public static class StripeAndStore {
    private final Stripe<String, Integer> stripe =
        new Stripe<>(
            new Capacity(100, 100_000), WriterOptions.ofDefaults().withBatchSize(1), new Random(1));
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

  /** The same stripe, which forgets values in flight. */
  @Param(name = "version", gen = IntGen.class, conf = "1:5")
  public static class ForgetfulStripe {
    private final AtomicInteger dirty = new AtomicInteger();
    private final AtomicInteger stored = new AtomicInteger();

    @Operation
    public void submit(@Param(name = "version") int version) {
      dirty.accumulateAndGet(version, Math::max);
    }

    @Operation(nonParallelGroup = "turn")
    public void flush() {
      int version = dirty.getAndSet(0);
      stored.accumulateAndGet(version, Math::max);
    }

    @Operation(nonParallelGroup = "turn")
    public void failToFlush() {
      int version = dirty.getAndSet(0);
      dirty.accumulateAndGet(version, Math::max);
    }

    @Operation
    public long newest() {
      return Math.max(dirty.get(), stored.get());
    }
  }

  /** The specification of both. */
  public static class HighestVersions {
    private int highest;

    public void submit(int version) {
      highest = Math.max(highest, version);
    }

    public void flush() {}

    public void failToFlush() {}

    public long newest() {
      return highest;
    }
  }
}
