package dev.sessionkeeper.sqs;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives from one queue as long as somebody waits, a few receives at once.
 *
 * <p>A receive runs on a thread of its own and not on the waiter's: a waiter may be interrupted,
 * and what SQS had answered him would stay in flight for nobody. A wait of a second and more is a
 * long poll that ends with it; the rest of it is a few short ones.
 */
final class PollQueue {
  static final Duration PAUSE = Duration.ofMillis(50);
  private static final Logger log = LoggerFactory.getLogger(PollQueue.class);
  private static final Duration AFTER_FAILURE = Duration.ofMillis(500);
  private static final int AT_ONCE = 4;
  private static final int LONGEST_POLL = 20;

  private final SqsQueue queue;
  private final Consumer<List<Received>> arrived;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int waiters;
  private int running;
  private long nextPoll;
  private boolean closed;
  private @Nullable RuntimeException failure;

  PollQueue(SqsQueue queue, Consumer<List<Received>> arrived) {
    this.queue = queue;
    this.arrived = arrived;
    this.nextPoll = queue.time().nanoTime();
  }

  /**
   * Waits until something is there, receiving meanwhile; at least one receive is made.
   *
   * @param isThere must be quick
   */
  void await(Duration wait, BooleanSupplier isThere) throws InterruptedException {
    long end = queue.time().nanoTime() + wait.toNanos();
    boolean hasPolled = false;
    lock.lock();
    try {
      waiters++;
      while (!closed && !isThere.getAsBoolean()) {
        long left = end - queue.time().nanoTime();
        if (left <= 0 && hasPolled) {
          throwFailure();
          return;
        }
        long pause = nextPoll - queue.time().nanoTime();
        if (running < Math.min(waiters, AT_ONCE) && (pause <= 0 || !hasPolled)) {
          hasPolled = true;
          start((int) Math.min(LONGEST_POLL, Duration.ofNanos(Math.max(0, left)).toSeconds()));
        }
        hasPolled |= running > 0;
        changed.awaitNanos(running > 0 ? Math.max(left, PAUSE.toNanos()) : Math.min(left, pause));
      }
    } finally {
      waiters--;
      lock.unlock();
    }
  }

  private void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  private void start(int waitSeconds) {
    running++;
    queue.io().execute(() -> poll(waitSeconds));
  }

  private void poll(int waitSeconds) {
    List<Received> messages = List.of();
    RuntimeException failed = null;
    try {
      messages = queue.calls().receive(SqsCalls.BATCH, waitSeconds, queue.lockSeconds());
      if (!messages.isEmpty()) {
        arrived.accept(messages);
      }
    } catch (RuntimeException e) {
      log.debug("A receive from {} failed", queue.name(), e);
      failed = e;
    }
    ended(messages.isEmpty(), failed);
  }

  private void ended(boolean nothingCame, @Nullable RuntimeException failed) {
    lock.lock();
    try {
      running--;
      failure = failed;
      var pause = failed != null ? AFTER_FAILURE : nothingCame ? PAUSE : Duration.ZERO;
      nextPoll = queue.time().nanoTime() + pause.toNanos();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
