package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
 * be checked. Guarded by the lock of its queue.
 *
 * <p>New messages arrive in the order of their sequence numbers, so a plain queue orders them by
 * age. The few that return after a failure or as dead letters are in a tree beside it.
 */
final class UnorderedMessages {
  private final ArrayDeque<UnorderedMessage> fresh = new ArrayDeque<>();
  private final TreeMap<Long, UnorderedMessage> returned = new TreeMap<>();
  private final TreeMap<Long, UnorderedMessage> replayed = new TreeMap<>();
  private final Map<String, UnorderedMessage> locked = new HashMap<>();
  private final DueTimes<UnorderedMessage> due = new DueTimes<>(UnorderedMessage.class);
  private final EarliestTimer nextTimer;
  private @Nullable UnorderedMessage oldest;
  private @Nullable UnorderedMessage youngest;
  private int readyCount;
  private long lastReceipt;

  UnorderedMessages(Ticks ticks, ReentrantLock lock, Runnable onDue) {
    this.nextTimer = new EarliestTimer(ticks, lock, due::next, onDue);
  }

  UnorderedMessage add(Stored stored) {
    var message = new UnorderedMessage(stored);
    if (stored.replays > 0) {
      replayed.put(stored.sequence, message);
      return message;
    }
    message.older = youngest;
    if (youngest == null) {
      oldest = message;
    } else {
      youngest.younger = message;
    }
    youngest = message;
    return message;
  }

  void forget(UnorderedMessage message) {
    unready(message);
    due.forget(message);
    message.gone = true;
    if (message.stored.replays > 0) {
      replayed.remove(message.stored.sequence);
      return;
    }
    if (message.older == null) {
      oldest = message.younger;
    } else {
      message.older.younger = message.younger;
    }
    if (message.younger == null) {
      youngest = message.older;
    } else {
      message.younger.older = message.older;
    }
  }

  /**
   * Puts an unlocked message among the ready messages, or among those that wait for their time.
   *
   * @return whether the message became ready by this call
   */
  boolean place(UnorderedMessage message, long now) {
    boolean isDue = message.stored.dueAt <= now;
    boolean isNews = isDue && !message.ready;
    if (isNews) {
      message.ready = true;
      readyCount++;
      if (message.isNew()) {
        message.inFresh = true;
        fresh.add(message);
      } else {
        returned.put(message.stored.sequence, message);
      }
    }
    lookAt(
        message,
        isDue
            ? message.stored.expiresAt
            : Math.min(message.stored.dueAt, message.stored.expiresAt));
    return isNews;
  }

  boolean hasReady() {
    return readyCount > 0;
  }

  int readyCount() {
    return readyCount;
  }

  int lockedCount() {
    return locked.size();
  }

  /** Returns all messages, locked or not. */
  List<UnorderedMessage> all() {
    var all = new ArrayList<>(replayed.values());
    for (var message = oldest; message != null; message = message.younger) {
      all.add(message);
    }
    return all;
  }

  /** Returns when the oldest message was sent. */
  Optional<Instant> oldestSentAt() {
    var first = Optional.ofNullable(oldest).map(message -> message.stored.enqueuedAt);
    var back =
        replayed.isEmpty()
            ? Optional.<Instant>empty()
            : Optional.of(replayed.firstEntry().getValue().stored.enqueuedAt);
    return first.isPresent() && back.isPresent() && back.get().isBefore(first.get())
        ? back
        : first.or(() -> back);
  }

  /** Returns the oldest ready message, which has no owner until it is locked. */
  UnorderedMessage takeReady() {
    // A message that has expired meanwhile is still in the queue of new ones.
    while (!fresh.isEmpty() && fresh.element().gone) {
      fresh.remove();
    }
    if (fresh.isEmpty() && returned.isEmpty()) {
      throw new NoSuchElementException("No message is ready");
    }
    boolean takesReturned =
        fresh.isEmpty()
            || (!returned.isEmpty() && returned.firstKey() < fresh.element().stored.sequence);
    var first = takesReturned ? returned.firstEntry().getValue() : fresh.element();
    unready(first);
    return first;
  }

  /** Returns a taken message that was not locked to its place by age. */
  void putBack(UnorderedMessage message) {
    message.ready = true;
    readyCount++;
    returned.put(message.stored.sequence, message);
  }

  private void unready(UnorderedMessage message) {
    if (!message.ready) {
      return;
    }
    message.ready = false;
    readyCount--;
    if (!message.inFresh) {
      returned.remove(message.stored.sequence);
    } else if (!fresh.isEmpty() && fresh.element().equals(message)) {
      fresh.remove();
      message.inFresh = false;
    }
  }

  /** Locks a message and returns its receipt. */
  String lock(UnorderedMessage message, long end) {
    var receipt = message.stored.sequence + "." + ++lastReceipt;
    message.receipt = receipt;
    locked.put(receipt, message);
    extend(message, end);
    return receipt;
  }

  void extend(UnorderedMessage message, long end) {
    message.lockEnd = end;
    lookAt(message, end);
  }

  /** Returns the message that is locked under this receipt now. */
  UnorderedMessage locked(String receipt, long now) {
    var message = locked.get(receipt);
    if (message == null || message.lockEnd <= now) {
      throw new KeeperException.LockLost("the message with receipt " + receipt, 0);
    }
    return message;
  }

  boolean isLocked(UnorderedMessage message) {
    return message.receipt != null;
  }

  void unlock(UnorderedMessage message) {
    locked.remove(message.receipt);
    message.receipt = null;
  }

  List<UnorderedMessage> takeDue(long now) {
    return due.next() <= now ? due.takeUntil(now) : List.of();
  }

  void close() {
    locked.clear();
    nextTimer.stop();
  }

  private void lookAt(UnorderedMessage message, long moment) {
    due.register(message, moment);
    nextTimer.set();
  }

  /** One message of an unordered queue. */
  static final class UnorderedMessage extends Due {
    final Stored stored;
    @Nullable String receipt;
    long lockEnd;

    private boolean ready;
    private boolean inFresh;
    private boolean gone;
    private @Nullable UnorderedMessage older;
    private @Nullable UnorderedMessage younger;

    UnorderedMessage(Stored stored) {
      this.stored = stored;
    }

    private boolean isNew() {
      return stored.attempts == 0 && stored.replays == 0 && stored.message.notBefore().isEmpty();
    }
  }
}
