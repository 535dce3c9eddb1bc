package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** Real time. A failed test is repeated if the machine stalled. */
final class RealContractTime implements ContractTime {
  private static final Duration SLACK = Duration.ofMillis(60);
  private static final Duration EARLY = Duration.ofMillis(100);
  private static final Duration LATE = Duration.ofMillis(300);
  private static final int TRIES = 6;

  private final NodeTime node = new NodeTime();

  @Override
  public TimeSource source() {
    return node;
  }

  @Override
  public void pass(Duration duration) {
    Eventually.sleep(duration.plus(SLACK));
  }

  @Override
  public void jumpWallClock(Duration by) {
    node.offset = node.offset.plus(by);
  }

  @Override
  public Duration patience() {
    return Duration.ofSeconds(20);
  }

  @Override
  public Duration blink() {
    return Duration.ofMillis(200);
  }

  @Override
  public <T> Future<T> begin(Callable<T> waitingCall) {
    var call = new FutureTask<>(waitingCall);
    Thread.ofVirtual().start(call);
    Eventually.sleep(blink());
    return call;
  }

  @Override
  public <T> T endsAfter(Duration wait, Callable<T> waitingCall) throws Exception {
    var times = new ArrayList<Duration>();
    while (true) {
      long start = System.nanoTime();
      var result = waitingCall.call();
      var took = Duration.ofNanos(System.nanoTime() - start);
      times.add(took);
      assertThat(took)
          .as("how long a call waits that may wait %s", wait)
          .isGreaterThanOrEqualTo(wait.minus(EARLY));
      if (took.compareTo(wait.plus(LATE)) <= 0) {
        return result;
      }
      // A busy machine delays one call, but not each of several.
      assertThat(times).as("how long calls wait that may wait %s", wait).hasSizeLessThan(TRIES);
    }
  }

  /** The clock of a node whose wall clock may be wrong. */
  private static final class NodeTime implements TimeSource {
    private final TimeSource machine = TimeSource.system();
    private volatile Duration offset = Duration.ZERO;

    @Override
    public Instant instant() {
      return machine.instant().plus(offset);
    }

    @Override
    public long nanoTime() {
      return machine.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return machine.schedule(delay, task);
    }
  }
}
