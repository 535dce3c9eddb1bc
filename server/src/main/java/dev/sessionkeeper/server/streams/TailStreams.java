package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.store.EventLog;
import dev.sessionkeeper.store.Notices;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows all streams that have readers, with one thread and one query per poll, however many
 * readers there are.
 *
 * <p>Events published through this process are seen at once. Other processes notify after their
 * commit, because a notification inside the appending transaction would hold a database-wide lock.
 * Notifications may get lost, so while there are readers this class also polls each second.
 */
final class TailStreams implements AutoCloseable, Runnable, Notices.Ear {
  private static final Logger log = LoggerFactory.getLogger(TailStreams.class);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final int PAGE = 500;
  private static final long PAGE_BYTES = 1 << 20;

  /** All tails together keep at most 32 MB, as long as there are no more than 2,000. */
  private static final long ALL_BYTES = 32 << 20;

  private static final long MOST_BYTES = 2 << 20;
  private static final long LEAST_BYTES = 16 << 10;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition wake = lock.newCondition();
  private final Map<String, Open> open = new HashMap<>();
  private final RetryPolicy retry = RetryPolicy.forStore(Integer.MAX_VALUE);
  private final StreamLog streams;
  private final Optional<Notices> notices;
  private final Thread thread;
  private boolean woken;
  private boolean closed;

  private static final class Open {
    final Tail tail;
    int readers;

    Open(Tail tail) {
      this.tail = tail;
    }
  }

  TailStreams(StreamLog streams, Optional<Notices> notices) {
    this.streams = streams;
    this.notices = notices;
    this.thread = Thread.ofVirtual().name("tail-streams").start(this);
    notices.ifPresent(told -> told.listen(EventLog.CHANNEL, this));
  }

  /** Handles the notification that a stream has new events; blank means any stream. */
  @Override
  public void heard(String stream) {
    lock.lock();
    try {
      if (stream.isEmpty() ? !open.isEmpty() : open.containsKey(stream)) {
        wakeUp();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void everything() {
    heard("");
  }

  /**
   * Returns the tail of a stream, which is followed until {@link #leave}.
   *
   * @param last the cursor to begin with if the stream has no other reader
   */
  Tail join(String stream, long last) {
    lock.lock();
    try {
      var entry = open.computeIfAbsent(stream, name -> new Open(new Tail(name, last)));
      entry.readers++;
      wakeUp();
      return entry.tail;
    } finally {
      lock.unlock();
    }
  }

  void leave(Tail tail) {
    lock.lock();
    try {
      var entry = open.get(tail.stream());
      if (entry != null && entry.tail == tail && --entry.readers == 0) {
        open.remove(tail.stream());
      }
    } finally {
      lock.unlock();
    }
  }

  int readers() {
    lock.lock();
    try {
      return open.values().stream().mapToInt(entry -> entry.readers).sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes events published by this process visible to its readers now, and notifies other
   * processes.
   */
  void published(String stream) {
    heard(stream);
    notices.ifPresent(told -> told.tell(EventLog.CHANNEL, stream));
  }

  private void wakeUp() {
    woken = true;
    wake.signal();
  }

  @Override
  public void run() {
    int failures = 0;
    try {
      while (awaitRound(failures)) {
        failures = follow() ? 0 : failures + 1;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for a notification or the poll interval; without readers it waits without a limit. */
  private boolean awaitRound(int failures) throws InterruptedException {
    lock.lock();
    try {
      if (failures > 0) {
        woken = false;
      }
      long left =
          failures == 0
              ? POLL.toNanos()
              : retry.delayAfter(failures, RandomGenerator.getDefault()).toNanos();
      while (!closed && !woken && left > 0) {
        if (open.isEmpty()) {
          wake.await(1, TimeUnit.HOURS);
        } else {
          left = wake.awaitNanos(left);
        }
      }
      woken = false;
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /** Polls once. Returns false if the store did not answer; the readers wait then. */
  private boolean follow() {
    var tails = tails();
    if (tails.isEmpty()) {
      return true;
    }
    try {
      var lastIds = streams.lastIds(tails.stream().map(Tail::stream).toList());
      long each = Math.clamp(ALL_BYTES / tails.size(), LEAST_BYTES, MOST_BYTES);
      for (var tail : tails) {
        tail.bound(each);
        catchUp(tail, lastIds.getOrDefault(tail.stream(), 0L));
      }
      return true;
    } catch (KeeperException e) {
      log.warn("The streams cannot be followed now; it is tried again: {}", e.getMessage());
      return false;
    } catch (RuntimeException e) {
      log.error("The streams cannot be followed; it is tried again", e);
      return false;
    }
  }

  private void catchUp(Tail tail, long last) {
    while (tail.last() < last) {
      var events = streams.read(tail.stream(), tail.last(), PAGE, PAGE_BYTES);
      if (events.isEmpty()) {
        return;
      }
      tail.add(events);
    }
  }

  private List<Tail> tails() {
    lock.lock();
    try {
      return open.values().stream().map(entry -> entry.tail).toList();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    notices.ifPresent(told -> told.forget(EventLog.CHANNEL));
    lock.lock();
    try {
      closed = true;
      wake.signal();
    } finally {
      lock.unlock();
    }
    try {
      thread.join(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
