package dev.sessionkeeper.coalescing;

import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.coalescing.LastValueStore.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * The keys that one worker writes: values that wait, are being written, or wait for their retry.
 *
 * <p>A state machine without threads, timers or clock: its callers pass the time. Every method
 * takes the one lock, and none calls other code while it holds the lock, except {@link Capacity},
 * which never waits there.
 *
 * <p>I1: a key has at most one pending value in {@code fresh} or {@code retrying}, and at most one
 * in {@code inFlight}. I2: only one batch is in flight at a time, so at most one write per key is.
 * I3: a pending value leaves only with an outcome: {@link #settle} or {@link #abandon}. I4: a newer
 * value is never replaced by an older one.
 */
final class Stripe<K, V> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<K, PendingValue<K, V>> fresh = new LinkedHashMap<>();
  private final Map<K, PendingValue<K, V>> retrying = new HashMap<>();
  private final Map<K, PendingValue<K, V>> inFlight = new HashMap<>();
  private final PriorityQueue<PendingValue<K, V>> byDueTime =
      new PriorityQueue<>(PendingValue::compareDue);

  private final Capacity room;
  private final int batchSize;
  private final RetryPolicy retry;
  private final RandomGenerator random;
  private final AdaptLinger linger;
  private long lastOrder;
  private boolean draining;
  private boolean abandoned;

  Stripe(Capacity room, WriterOptions options, RandomGenerator random) {
    this.room = room;
    this.batchSize = options.batchSize();
    this.retry = options.retry();
    this.random = random;
    this.linger = new AdaptLinger(options.linger(), options.maxLinger());
  }

  /** The result of an offer. */
  sealed interface Offered {
    /**
     * The value waits to be written.
     *
     * @param coalesced whether it shares the pending value of another submit
     */
    record Taken(CompletionStage<Outcome> stage, boolean coalesced) implements Offered {}

    record NoRoom() implements Offered {}

    record Closed() implements Offered {}
  }

  /**
   * Accepts the value, unless there is no room. A value for a key that waits already needs none.
   */
  Offered offer(Entry<K, V> entry, long bytes, long now) {
    lock.lock();
    try {
      if (draining) {
        return new Offered.Closed();
      }
      var waiting = waiting(entry.key());
      if (waiting.isPresent()) {
        return coalesce(waiting.get(), entry, bytes);
      }
      var flying = inFlight.get(entry.key());
      if (flying != null && entry.version() <= flying.version) {
        return new Offered.Taken(flying.stage(), true);
      }
      if (!room.tryTake(1, bytes)) {
        return new Offered.NoRoom();
      }
      var slot =
          flying == null
              ? new PendingValue<>(entry, bytes, now)
              : flying.successor(entry, bytes, now);
      fresh.put(entry.key(), slot);
      return new Offered.Taken(slot.stage(), false);
    } finally {
      lock.unlock();
    }
  }

  private Offered coalesce(PendingValue<K, V> slot, Entry<K, V> entry, long bytes) {
    if (entry.version() > slot.version) {
      if (!room.tryTake(0, bytes - slot.bytes)) {
        return new Offered.NoRoom();
      }
      slot.replaceBy(entry, bytes);
    }
    slot.submits++;
    return new Offered.Taken(slot.stage(), true);
  }

  private Optional<PendingValue<K, V>> waiting(K key) {
    var slot = fresh.get(key);
    return Optional.ofNullable(slot != null ? slot : retrying.get(key));
  }

  /**
   * Moves due values in flight: retries by due time first, then the values that have waited
   * longest.
   */
  List<PendingValue<K, V>> take(long now) {
    lock.lock();
    try {
      var batch = new ArrayList<PendingValue<K, V>>();
      while (batch.size() < batchSize && isRetryDue(now)) {
        var slot = byDueTime.remove();
        retrying.remove(slot.key);
        batch.add(slot);
      }
      if (batch.size() < batchSize && isFreshDue(now)) {
        takeFresh(batch);
      }
      batch.forEach(slot -> inFlight.put(slot.key, slot));
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void takeFresh(List<PendingValue<K, V>> batch) {
    for (Iterator<PendingValue<K, V>> slots = fresh.values().iterator();
        slots.hasNext() && batch.size() < batchSize; ) {
      batch.add(slots.next());
      slots.remove();
    }
  }

  private boolean isRetryDue(long now) {
    var first = byDueTime.peek();
    return first != null && first.due - now <= 0;
  }

  private boolean isFreshDue(long now) {
    return !fresh.isEmpty() && (draining || fresh.size() >= batchSize || freshDue() - now <= 0);
  }

  private long freshDue() {
    return fresh.values().iterator().next().since + linger.nanos();
  }

  /** Returns how long until a value is due; empty if none waits. */
  Optional<Duration> untilDue(long now) {
    lock.lock();
    try {
      if (isRetryDue(now) || isFreshDue(now)) {
        return Optional.of(Duration.ZERO);
      }
      var first = byDueTime.peek();
      if (first == null && fresh.isEmpty()) {
        return Optional.empty();
      }
      long wait = first == null ? Long.MAX_VALUE : first.due - now;
      return Optional.of(
          Duration.ofNanos(fresh.isEmpty() ? wait : Math.min(wait, freshDue() - now)));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a pending value that has its outcome. Returns false if close has given it up before.
   */
  boolean settle(PendingValue<K, V> slot) {
    lock.lock();
    try {
      if (abandoned) {
        return false;
      }
      inFlight.remove(slot.key, slot);
      room.release(1, slot.bytes);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records a failed write that can be repeated: the value waits for its retry, under a newer value
   * if there is one.
   */
  void fail(PendingValue<K, V> slot, String cause, long now) {
    lock.lock();
    try {
      if (abandoned) {
        return;
      }
      inFlight.remove(slot.key, slot);
      slot.attempts++;
      slot.cause = cause;
      var newer = fresh.remove(slot.key);
      if (newer != null) {
        newer.inherit(slot);
        room.release(1, slot.bytes);
      }
      retryLater(newer == null ? slot : newer, now);
    } finally {
      lock.unlock();
    }
  }

  private void retryLater(PendingValue<K, V> slot, long now) {
    long delay = retry.delayAfter(slot.attempts, random).toNanos();
    slot.due = now + (draining ? Math.min(delay, DRAIN_DELAY.toNanos()) : delay);
    slot.order = ++lastOrder;
    retrying.put(slot.key, slot);
    byDueTime.add(slot);
  }

  /** The delay of retries while closing, which is short because little time is left. */
  private static final Duration DRAIN_DELAY = Duration.ofMillis(100);

  /** Records the duration of a write, or its failure. */
  void wrote(Duration took, boolean succeeded) {
    lock.lock();
    try {
      linger.observe(took, succeeded);
    } finally {
      lock.unlock();
    }
  }

  /** Refuses new values, and makes all waiting ones due now. */
  void drain(long now) {
    lock.lock();
    try {
      draining = true;
      var all = List.copyOf(byDueTime);
      byDueTime.clear();
      for (var slot : all) {
        slot.due = slot.due - now > 0 ? now : slot.due;
        byDueTime.add(slot);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Gives up all remaining values and returns them. Writes that end later change nothing here. */
  List<PendingValue<K, V>> abandon() {
    lock.lock();
    try {
      abandoned = true;
      var left = new ArrayList<PendingValue<K, V>>(inFlight.values());
      left.addAll(fresh.values());
      left.addAll(retrying.values());
      inFlight.clear();
      fresh.clear();
      retrying.clear();
      byDueTime.clear();
      left.forEach(slot -> room.release(1, slot.bytes));
      return left;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the slots in flight, after their worker died. */
  List<PendingValue<K, V>> inFlight() {
    lock.lock();
    try {
      return List.copyOf(inFlight.values());
    } finally {
      lock.unlock();
    }
  }

  boolean isEmpty() {
    lock.lock();
    try {
      return fresh.isEmpty() && retrying.isEmpty() && inFlight.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the newest value of the key that is not yet known to be stored. */
  Optional<Entry<K, V>> newest(K key) {
    lock.lock();
    try {
      return waiting(key).or(() -> Optional.ofNullable(inFlight.get(key))).map(PendingValue::entry);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the counts for the metrics. */
  Depth depth(long now) {
    lock.lock();
    try {
      long oldest = now;
      for (var slots : List.of(fresh, retrying, inFlight)) {
        for (var slot : slots.values()) {
          oldest = Math.min(oldest, slot.since);
        }
      }
      return new Depth(fresh.size(), retrying.size(), inFlight.size(), now - oldest);
    } finally {
      lock.unlock();
    }
  }

  record Depth(int fresh, int retrying, int inFlight, long oldestNanos) {}
}
