package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Batches run one at a time, and every call is answered: a plain counter that only batches change
 * has the same results as one that callers increase one after the other.
 */
@Tag("slow")
class GroupCallsLincheckTest {

  @Test
  void groupsNeverRunAtTheSameTimeAndForgetNoCall() {
    options(10).check(CounterOfGroups.class);
  }

  /**
   * Checks the search itself with a planted race: a search that does not find it would prove
   * nothing.
   */
  @Test
  void theSearchFindsABatcherWhoseCallersAllRunTheGroup() {
    assertThatThrownBy(() -> options(100).check(CounterOfEveryCaller.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  private static StressOptions options(int scenarios) {
    return new StressOptions()
        .iterations(scenarios)
        .invocationsPerIteration(300)
        .minimizeFailedScenario(false)
        .threads(3)
        .actorsPerThread(3)
        .sequentialSpecification(Counter.class);
  }

  /** A call that waits for a batch. */
  private record Call(int by, CompletableFuture<Long> answer) {}

  /** The batcher under test. */
  @Param(name = "by", gen = IntGen.class, conf = "1:3")
  public static class CounterOfGroups {
    /** Not synchronised on purpose: the sum is right only if batches run one at a time. */
    private long total;

    private final GroupCalls<Call> calls =
        new GroupCalls<>(
            "test",
            2,
            Rhythm.atOnce(),
            group -> {
              for (var call : group) {
                total += call.by();
                call.answer().complete(total);
              }
            });

    @Operation
    public long add(@Param(name = "by") int by) {
      var call = new Call(by, new CompletableFuture<>());
      calls.add(call);
      return call.answer().join();
    }
  }

  /** The same counter, where every caller takes the calls that wait. */
  @Param(name = "by", gen = IntGen.class, conf = "1:3")
  public static class CounterOfEveryCaller {
    private final ConcurrentLinkedQueue<Call> waiting = new ConcurrentLinkedQueue<>();
    private long total;

    @Operation
    public long add(@Param(name = "by") int by) {
      var own = new Call(by, new CompletableFuture<>());
      waiting.add(own);
      for (var call = waiting.poll(); call != null; call = waiting.poll()) {
        long before = total;
        // Long enough for another caller, even where threads share one processor.
        for (int i = 0; i < 20; i++) {
          Thread.yield();
        }
        total = before + call.by();
        call.answer().complete(total);
      }
      return own.answer().join();
    }
  }

  /** The specification of both. */
  public static class Counter {
    private long total;

    public long add(int by) {
      total += by;
      return total;
    }
  }
}
