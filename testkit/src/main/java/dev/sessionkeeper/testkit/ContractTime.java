package dev.sessionkeeper.testkit;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/** The time while a provider is checked: moved by the test, or real. */
public interface ContractTime {

  /** Returns the clock for the provider. */
  TimeSource source();

  /** Lets time pass. */
  void pass(Duration duration);

  /** Moves the wall clock of the node, not of the store, forward or back. */
  void jumpWallClock(Duration by);

  /** Returns how long to wait for an event that must happen. */
  Duration patience();

  /** Returns how long to wait in order to see that an event does not happen. */
  Duration blink();

  /** Begins a call that waits, and returns when the call is waiting. */
  <T> Future<T> begin(Callable<T> waitingCall);

  /** Makes a call that finds nothing, and fails unless the call returns at the end of its wait. */
  <T> T endsAfter(Duration wait, Callable<T> waitingCall) throws Exception;

  /** Returns a clock that only the test moves. */
  static ContractTime settable() {
    return new SettableContractTime();
  }

  /** Returns real time. */
  static ContractTime real() {
    return new RealContractTime();
  }
}
