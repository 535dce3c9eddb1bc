package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The settlements of one hold that are not yet durable: a bounded number, so that the worker may go
 * on meanwhile.
 *
 * <p>I1: the first one that fails is terminal for the hold, because those behind it are refused.
 */
final class SettleInFlight {
  private static final int WINDOW = 256;
  private static final long LOOK_EVERY_MILLIS = 20;

  private final Hold hold;
  private final LoseLease losses;
  private final Report report;
  private final TimeSource time;
  private final long patienceNanos;
  private final Semaphore window = new Semaphore(WINDOW);
  private volatile boolean failed;

  SettleInFlight(Hold hold, Setup setup, LoseLease losses) {
    this.hold = hold;
    this.losses = losses;
    this.report = setup.report();
    this.time = setup.time();
    this.patienceNanos = setup.lockNanos();
  }

  boolean hasFailed() {
    return failed;
  }

  void add(CompletionStage<Void> stage) {
    if (!await(1)) {
      return;
    }
    var unused =
        stage.whenComplete(
            (done, error) -> {
              if (error != null) {
                fail(error);
              }
              window.release();
            });
  }

  /** Waits for all of them. */
  void awaitAll() {
    if (window.availablePermits() < WINDOW && await(WINDOW)) {
      window.release(WINDOW);
    }
  }

  void fail(Throwable error) {
    failed = true;
    var cause =
        error instanceof CompletionException e && e.getCause() != null ? e.getCause() : error;
    if (cause instanceof KeeperException.LockLost lost) {
      losses.lost(hold, Phase.SETTLE, lost);
    } else {
      report.failed(Phase.SETTLE, Optional.of(hold.id()), cause);
    }
  }

  /** False, and the hold is over, when nothing becomes durable for as long as a lease lasts. */
  private boolean await(int permits) {
    long started = time.nanoTime();
    while (!tryAcquire(permits)) {
      if (!hold.isHeld()) {
        return false;
      }
      if (time.nanoTime() - started >= patienceNanos) {
        fail(new KeeperException.Unavailable("The settlement of session " + hold.id()));
        return false;
      }
    }
    return true;
  }

  private boolean tryAcquire(int permits) {
    try {
      return window.tryAcquire(permits, LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }
}
