package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Time that the test moves. A waiting call is detected by the timer that it sets. */
final class SettableContractTime implements ContractTime {
  private static final Duration TOLERANCE = Duration.ofMillis(100);
  private static final long LONG_ENOUGH_SECONDS = 30;

  private final SettableClock clock = SettableClock.create();

  @Override
  public TimeSource source() {
    return clock;
  }

  @Override
  public void pass(Duration duration) {
    clock.advance(duration);
  }

  @Override
  public void jumpWallClock(Duration by) {
    clock.jumpWallClock(by);
  }

  @Override
  public Duration patience() {
    return Duration.ZERO;
  }

  @Override
  public Duration blink() {
    return Duration.ZERO;
  }

  @Override
  public <T> Future<T> begin(Callable<T> waitingCall) {
    int before = clock.pendingTimers();
    var call = new FutureTask<>(waitingCall);
    var thread = Thread.ofVirtual().start(call);
    Eventually.holds(
        "the call waits",
        () -> call.isDone() || (clock.pendingTimers() > before && isParked(thread)));
    return call;
  }

  private static boolean isParked(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING -> true;
      case NEW, RUNNABLE, BLOCKED, TERMINATED -> false;
    };
  }

  @Override
  public <T> T endsAfter(Duration wait, Callable<T> waitingCall) throws Exception {
    var call = begin(waitingCall);
    clock.advance(wait.minus(TOLERANCE));
    Eventually.staysFalse(call::isDone);
    assertThat(call.isDone()).as("a call that waits %s ends before", wait).isFalse();
    clock.advance(TOLERANCE.multipliedBy(2));
    return call.get(LONG_ENOUGH_SECONDS, TimeUnit.SECONDS);
  }
}
