package dev.sessionkeeper.sqs;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives from one queue while a caller waits, with a few concurrent receives.
 *
 * <p>A receive runs on a thread of its own and not on the caller's: a caller may be interrupted,
 * and the messages in the answer would stay in flight unused. A wait of a second or more begins
 * with a long poll that ends with it, followed by a few short ones.
 */
final class PollQueue {
  static final Duration PAUSE = Duration.ofMillis(50);
  private static final Logger log = LoggerFactory.getLogger(PollQueue.class);
  private static final Duration AFTER_FAILURE = Duration.ofMillis(500);

  /** The extra wait for an answer that is already on its way. */
  private static final Duration GRACE = Duration.ofMillis(600);

  private static final int AT_ONCE = 4;
  private static final int LONGEST_POLL = 20;

  private final SqsQueue queue;
  private final Predicate<List<Received>> arrived;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int waiters;
  private int running;
  private long nextPoll;
  private boolean closed;
  private @Nullable RuntimeException failure;

  PollQueue(SqsQueue queue, Predicate<List<Received>> arrived) {
    this.queue = queue;
    this.arrived = arrived;
    this.nextPoll = queue.time().nanoTime();
  }

  /**
   * Waits until the condition holds, receiving meanwhile; makes at least one receive.
   *
   * @param isThere must be quick
   */
  void await(Duration wait, BooleanSupplier isThere) throws InterruptedException {
    long end = queue.time().nanoTime() + wait.toNanos();
    Poll own = null;
    lock.lock();
    try {
      waiters++;
      while (!closed && !isThere.getAsBoolean()) {
        boolean answered = own == null || own.done;
        long left = (answered ? end : end + GRACE.toNanos()) - queue.time().nanoTime();
        if (left <= 0 && (own != null || running > 0)) {
          throwFailure();
          return;
        }
        long pause = nextPoll - queue.time().nanoTime();
        if (answered && running < Math.min(waiters, AT_ONCE) && (pause <= 0 || own == null)) {
          own = start(Duration.ofNanos(Math.max(0, end - queue.time().nanoTime())));
          continue;
        }
        changed.awaitNanos(running > 0 ? left : Math.min(left, Math.max(pause, 1)));
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

  private Poll start(Duration wait) {
    var poll = new Poll();
    running++;
    int seconds = (int) Math.min(LONGEST_POLL, wait.toSeconds());
    queue.io().execute(() -> poll(poll, seconds));
    return poll;
  }

  private void poll(Poll poll, int waitSeconds) {
    boolean taken = false;
    // Messages that no caller here took must not be received again at once.
    var pause = AFTER_FAILURE;
    RuntimeException failed = null;
    try {
      var messages = queue.calls().receive(SqsCalls.BATCH, waitSeconds, queue.lockSeconds());
      taken = !messages.isEmpty() && arrived.test(messages);
      pause = messages.isEmpty() ? PAUSE : AFTER_FAILURE;
    } catch (RuntimeException e) {
      log.debug("A receive from {} failed", queue.name(), e);
      failed = e;
    }
    ended(poll, taken ? Duration.ZERO : pause, failed);
  }

  private void ended(Poll poll, Duration pause, @Nullable RuntimeException failed) {
    lock.lock();
    try {
      poll.done = true;
      running--;
      failure = failed;
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

  /** A receive in progress. */
  private static final class Poll {
    private boolean done;
  }
}
