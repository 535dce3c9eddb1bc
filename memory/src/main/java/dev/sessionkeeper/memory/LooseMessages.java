package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The messages of an unordered queue: ready ones by age, locked ones by receipt, and when each must
 * be looked at. Guarded by the lock of its queue.
 */
final class LooseMessages {
  private final TreeMap<Long, Loose> all = new TreeMap<>();
  private final TreeMap<Long, Loose> ready = new TreeMap<>();
  private final Map<String, Loose> locked = new HashMap<>();
  private final DueTimes<Loose> due = new DueTimes<>(Loose.class);
  private final Alarm alarm;
  private long lastReceipt;

  LooseMessages(Ticks ticks, ReentrantLock lock, Runnable onDue) {
    this.alarm = new Alarm(ticks, lock, due::next, onDue);
  }

  Loose add(Stored stored) {
    var message = new Loose(stored);
    all.put(stored.sequence, message);
    return message;
  }

  void forget(Loose message) {
    all.remove(message.stored.sequence);
    ready.remove(message.stored.sequence);
    due.forget(message);
  }

  /**
   * Puts an unlocked message where it belongs.
   *
   * @return whether it can be received now
   */
  boolean place(Loose message, long now) {
    boolean isDue = message.stored.dueAt <= now;
    if (isDue) {
      ready.put(message.stored.sequence, message);
    }
    lookAt(
        message,
        isDue
            ? message.stored.expiresAt
            : Math.min(message.stored.dueAt, message.stored.expiresAt));
    return isDue;
  }

  boolean hasReady() {
    return !ready.isEmpty();
  }

  int readyCount() {
    return ready.size();
  }

  int lockedCount() {
    return locked.size();
  }

  Optional<Instant> oldest() {
    return all.isEmpty()
        ? Optional.empty()
        : Optional.of(all.firstEntry().getValue().stored.enqueuedAt);
  }

  /** The oldest message that is ready; it is in nobody's hands until it is locked. */
  Loose takeReady() {
    var first = ready.pollFirstEntry();
    if (first == null) {
      throw new NoSuchElementException("No message is ready");
    }
    return first.getValue();
  }

  /** Locks a message and says what proves it. */
  String lock(Loose message, long end) {
    var receipt = message.stored.sequence + "." + ++lastReceipt;
    message.receipt = receipt;
    locked.put(receipt, message);
    extend(message, end);
    return receipt;
  }

  void extend(Loose message, long end) {
    message.lockEnd = end;
    lookAt(message, end);
  }

  /** The message that is locked under this receipt now. */
  Loose locked(String receipt, long now) {
    var message = locked.get(receipt);
    if (message == null || message.lockEnd <= now) {
      throw new KeeperException.LockLost("the message with receipt " + receipt, 0);
    }
    return message;
  }

  boolean isLocked(Loose message) {
    return message.receipt != null;
  }

  void unlock(Loose message) {
    locked.remove(message.receipt);
    message.receipt = null;
  }

  List<Loose> takeDue(long now) {
    return due.next() <= now ? due.takeUntil(now) : List.of();
  }

  void close() {
    locked.clear();
    alarm.stop();
  }

  private void lookAt(Loose message, long moment) {
    due.register(message, moment);
    alarm.set();
  }

  /** One message of an unordered queue. */
  static final class Loose extends Due {
    final Stored stored;
    @Nullable String receipt;
    long lockEnd;

    Loose(Stored stored) {
      this.stored = stored;
    }
  }
}
