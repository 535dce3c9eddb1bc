package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The settlements of one hold that are not yet durable. Their number is bounded; below it the
 * worker continues with the next message.
 *
 * <p>I1: the first settlement that fails ends the hold, because the store refuses all later ones.
 */
final class SettleInFlight {
  private static final int WINDOW = 256;
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);

  private final Hold hold;
  private final LoseLease losses;
  private final Report report;
  private final TimeSource time;
  private final long patienceNanos;
  private final Semaphore window = new Semaphore(WINDOW);
  private volatile boolean failed;
  private @Nullable Together last;
  // Set by the worker while it waits for a free place; completed by the thread that frees one.
  private volatile @Nullable CompletableFuture<Void> waiting;

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

  /** Adds one settlement; a provider may return the same stage for several in a row. */
  void add(CompletionStage<Void> stage) {
    if (!await(1) || (last != null && last.join(stage))) {
      return;
    }
    var next = new Together(stage);
    last = next;
    var unused = stage.whenComplete((done, error) -> next.answered(error));
  }

  /** Several settlements that share one stage. */
  private final class Together {
    private final CompletionStage<Void> stage;
    private int count = 1;
    private boolean isAnswered;

    Together(CompletionStage<Void> stage) {
      this.stage = stage;
    }

    synchronized boolean join(CompletionStage<Void> other) {
      if (!other.equals(stage) || isAnswered) {
        return false;
      }
      count++;
      return true;
    }

    private synchronized int close() {
      isAnswered = true;
      return count;
    }

    void answered(@Nullable Throwable error) {
      int all = close();
      if (error != null) {
        fail(error);
      }
      window.release(all);
      var worker = waiting;
      if (worker != null) {
        worker.complete(null);
      }
    }
  }

  /** Waits until all settlements are durable or have failed. */
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
      report.failed(Phase.SETTLE, hold, cause);
    }
  }

  /**
   * Waits for free places. Returns false, and ends the hold, if no settlement becomes durable
   * within the length of a lease.
   */
  private boolean await(int permits) {
    if (window.tryAcquire(permits)) {
      return true;
    }
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
    var room = new CompletableFuture<Void>();
    waiting = room;
    try {
      // Checked after the signal is set: a settlement that completes in between also completes the
      // signal.
      return window.tryAcquire(permits)
          || (time.await(room, LOOK_EVERY) && window.tryAcquire(permits));
    } catch (InterruptedException e) {
      return false;
    } finally {
      waiting = null;
    }
  }
}
