package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker of a stripe: starts when a value is due, ends when none is.
 *
 * <p>I1: at most one worker of a stripe runs at a time; any other thread that writes for this
 * stripe takes its turn first. I2: whenever no worker runs and a value waits, a timer is set.
 * Timers are set one by one, so a late one causes no burst. I3: if the worker dies, its batch is
 * retried and the next wake-up starts another.
 */
final class FlushStripe<K, V> implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(FlushStripe.class);

  private static final Duration RESTART_PAUSE = Duration.ofMillis(50);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition turnIsFree = lock.newCondition();
  private final Stripe<K, V> stripe;
  private final WriterDependencies<K, V> around;
  private final Runnable afterTurn;
  private boolean running;
  private TimeSource.@Nullable Timer timer;
  private long timerAt;

  FlushStripe(Stripe<K, V> stripe, WriterDependencies<K, V> around, Runnable afterTurn) {
    this.stripe = stripe;
    this.around = around;
    this.afterTurn = afterTurn;
  }

  Stripe<K, V> stripe() {
    return stripe;
  }

  /** Starts the worker if a value is due, otherwise sets the timer for the next one. */
  void wake() {
    lock.lock();
    try {
      if (running || !isDueElseSetTimer()) {
        return;
      }
      running = true;
    } finally {
      lock.unlock();
    }
    try {
      around.executor().execute(this);
    } catch (RejectedExecutionException e) {
      recover(e);
    }
  }

  private boolean isDueElseSetTimer() {
    long now = around.time().nanoTime();
    var wait = stripe.untilDue(now);
    if (wait.isEmpty()) {
      cancelTimer();
      return false;
    }
    if (wait.get().isZero()) {
      return true;
    }
    long at = now + wait.get().toNanos();
    if (timer == null || at - timerAt < 0) {
      setTimer(at, wait.get());
    }
    return false;
  }

  private void setTimer(long at, Duration wait) {
    cancelTimer();
    timerAt = at;
    timer = around.time().schedule(wait, this::ring);
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private void ring() {
    lock.lock();
    try {
      timer = null;
    } finally {
      lock.unlock();
    }
    wake();
  }

  @Override
  public void run() {
    try {
      for (var batch = take(); !batch.isEmpty(); batch = take()) {
        tell(new WriteBatch<>(stripe, around).write(batch));
      }
      endTurn();
    } catch (RuntimeException | Error e) {
      recover(e);
    }
  }

  private List<PendingValue<K, V>> take() {
    return stripe.take(around.time().nanoTime());
  }

  /**
   * Completes waiting submits on another thread, so that their callbacks do not delay the next
   * batch.
   */
  private void tell(List<Runnable> news) {
    if (news.isEmpty()) {
      return;
    }
    Runnable all = () -> news.forEach(Runnable::run);
    try {
      around.executor().execute(all);
    } catch (RejectedExecutionException e) {
      all.run();
    }
  }

  /** Saves the batch of a worker that died, and starts the next worker after a pause. */
  private void recover(Throwable cause) {
    around.counters().workerRestarts.increment();
    around.vitals().workerDied(cause);
    log.error("A worker died; its values are kept and written by the next one", cause);
    for (var slot : stripe.inFlight()) {
      stripe.fail(slot, cause.toString(), around.time().nanoTime());
    }
    lock.lock();
    try {
      running = false;
      turnIsFree.signal();
      setTimer(around.time().nanoTime() + RESTART_PAUSE.toNanos(), RESTART_PAUSE);
    } finally {
      lock.unlock();
    }
  }

  private void endTurn() {
    lock.lock();
    try {
      running = false;
      turnIsFree.signal();
    } finally {
      lock.unlock();
    }
    afterTurn.run();
    wake();
  }

  /** Writes one value on the caller's thread, between two batches. */
  Outcome writeNow(Entry<K, V> entry) {
    if (!awaitTurn()) {
      return new Outcome.Rejected(Outcome.Why.FULL);
    }
    try {
      return switch (around.store().write(List.of(entry)).getFirst()) {
        case WRITTEN -> {
          around.counters().written.increment();
          yield new Outcome.Durable(entry.version());
        }
        case SUPERSEDED -> new Outcome.Superseded();
        case NOT_FOUND -> new Outcome.NotFound();
      };
    } catch (KeeperException e) {
      around.vitals().writeFailed(String.valueOf(e.getMessage()));
      return new Outcome.Rejected(Outcome.Why.UNAVAILABLE);
    } finally {
      endTurn();
    }
  }

  private boolean awaitTurn() {
    lock.lock();
    try {
      while (running) {
        turnIsFree.await();
      }
      running = true;
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }
}
