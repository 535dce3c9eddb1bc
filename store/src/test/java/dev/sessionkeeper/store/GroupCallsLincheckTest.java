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
 * Groups run one at a time, and every call is answered: a plain counter that only groups touch
 * looks, from outside, like one that callers increase one after the other.
 */
@Tag("slow")
class GroupCallsLincheckTest {

  @Test
  void groupsNeverRunAtTheSameTimeAndForgetNoCall() {
    options().check(CounterOfGroups.class);
  }

  /** The canary: if the search does not find this race, it proves nothing. */
  @Test
  void theSearchFindsABatcherWhoseCallersAllRunTheGroup() {
    assertThatThrownBy(() -> options().check(CounterOfEveryCaller.class))
        .isInstanceOf(LincheckAssertionError.class);
  }

  private static StressOptions options() {
    return new StressOptions()
        .iterations(10)
        .invocationsPerIteration(500)
        .minimizeFailedScenario(false)
        .threads(3)
        .actorsPerThread(3)
        .sequentialSpecification(Counter.class);
  }

  /** What waits for the group. */
  private record Call(int by, CompletableFuture<Long> answer) {}

  /** The batcher under test. */
  @Param(name = "by", gen = IntGen.class, conf = "1:3")
  public static class CounterOfGroups {
    /** Plain on purpose: only one group at a time keeps it right. */
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

  /** The same where whoever comes takes what waits. */
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
        Thread.onSpinWait();
        total = before + call.by();
        call.answer().complete(total);
      }
      return own.answer().join();
    }
  }

  /** What both claim to be. */
  public static class Counter {
    private long total;

    public long add(int by) {
      total += by;
      return total;
    }
  }
}
