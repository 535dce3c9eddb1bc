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
 * The settlements of one hold that are not yet durable: a bounded number, so that the worker may go
 * on meanwhile.
 *
 * <p>I1: the first one that fails is terminal for the hold, because those behind it are refused.
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
  // Set by the worker while it waits; completed by whoever makes room in the window.
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

  /** One settlement; a provider may have the same answer for several that follow each other. */
  void add(CompletionStage<Void> stage) {
    if (!await(1) || (last != null && last.join(stage))) {
      return;
    }
    var next = new Together(stage);
    last = next;
    var unused = stage.whenComplete((done, error) -> next.answered(error));
  }

  /** Settlements that have one answer. */
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
      report.failed(Phase.SETTLE, hold, cause);
    }
  }

  /** False, and the hold is over, when nothing becomes durable for as long as a lease lasts. */
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
      // Checked after the signal is set: an answer in between completes it.
      return window.tryAcquire(permits)
          || (time.await(room, LOOK_EVERY) && window.tryAcquire(permits));
    } catch (InterruptedException e) {
      return false;
    } finally {
      waiting = null;
    }
  }
}
