package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The state of queues of both modes: settings, sequence numbers, recent ids, dead letters and
 * counts.
 *
 * <p>One thread at a time adds messages, so that sequence numbers grow in the order in which
 * messages reach their sessions. Lock order: this lock, then a session's, then the turnstile's.
 */
final class QueueBooks {
  final QueueName queue;
  final Ticks ticks;
  final DeadLetterShelf shelf;

  private final long maxMessages;
  private final boolean countsDepth;
  private final ReentrantLock intake = new ReentrantLock();
  private final DuplicateWindow duplicates = new DuplicateWindow();
  private final LongAdder depth = new LongAdder();
  private long lastSequence;
  private volatile QueueSettings settings;
  private volatile boolean isDeleted;

  QueueBooks(QueueName queue, QueueSettings settings, Ticks ticks, long maxMessages) {
    this.queue = queue;
    this.settings = settings;
    this.ticks = ticks;
    this.maxMessages = maxMessages;
    // The depth of an ordered queue is in its sessions, so it is counted here only for a bounded
    // queue.
    this.countsDepth = settings.mode() == QueueMode.UNORDERED || maxMessages != Long.MAX_VALUE;
    this.shelf = new DeadLetterShelf(queue);
  }

  QueueSettings settings() {
    return settings;
  }

  /** Applies new settings; the mode cannot change. */
  void change(QueueSettings changed) {
    if (changed.mode() != settings.mode()) {
      throw new KeeperException.QueueConflict(queue, settings.mode());
    }
    settings = changed;
  }

  /** Refuses every later call: the queue was deleted. */
  void delete() {
    intake.lock();
    try {
      isDeleted = true;
    } finally {
      intake.unlock();
    }
  }

  /** Returns the failure of a call after the queue was closed or deleted. */
  KeeperException ended() {
    return isDeleted
        ? new KeeperException.UnknownQueue(queue)
        : new KeeperException.Closed("Queue " + queue);
  }

  /** Returns how many messages of an unordered queue are neither completed nor dead letters. */
  long depth() {
    return depth.sum();
  }

  /** Counts a message that was completed. */
  void left() {
    if (countsDepth) {
      depth.decrement();
    }
  }

  /** Makes a message a dead letter. */
  void setAside(Stored stored, int attempts, String reason, String lastError) {
    shelf.add(stored, attempts, reason, lastError, ticks.instant());
    left();
  }

  /** Stores all messages or none: all checks come before the first message is stored. */
  List<SendOutcome> take(List<Message> messages, Placement store) {
    var now = settings;
    Limits.DEFAULT.check(queue, now.mode(), messages);
    intake.lock();
    try {
      if (isDeleted) {
        throw ended();
      }
      long moment = ticks.now();
      duplicates.forgetOlderThan(now.duplicateWindow(), moment);
      requireRoomFor(messages);
      var enqueuedAt = ticks.instant();
      var outcomes = new ArrayList<SendOutcome>(messages.size());
      for (var message : messages) {
        outcomes.add(takeOne(message, now, moment, enqueuedAt, store));
      }
      return outcomes;
    } finally {
      intake.unlock();
    }
  }

  private void came() {
    if (countsDepth) {
      depth.increment();
    }
  }

  private SendOutcome takeOne(
      Message message, QueueSettings now, long moment, Instant enqueuedAt, Placement store) {
    boolean remembers = !now.duplicateWindow().isZero();
    var known = remembers ? duplicates.sequenceOf(message.id()) : OptionalLong.empty();
    if (known.isPresent()) {
      return new SendOutcome.Duplicate(message.id(), known.getAsLong());
    }
    long sequence = ++lastSequence;
    if (remembers) {
      duplicates.remember(message.id(), sequence, moment);
    }
    long dueAt = message.notBefore().map(earliest -> ticks.at(earliest, moment)).orElse(moment);
    came();
    store.put(new Stored(message, sequence, enqueuedAt, dueAt, expiry(message, moment), 0), moment);
    return new SendOutcome.Stored(message.id(), sequence);
  }

  private void requireRoomFor(List<Message> messages) {
    if (maxMessages == Long.MAX_VALUE) {
      return;
    }
    long fresh = messages.stream().filter(m -> duplicates.sequenceOf(m.id()).isEmpty()).count();
    if (depth.sum() + shelf.size() + fresh > maxMessages) {
      throw new KeeperException.Overloaded(
          "Queue " + queue + ", bounded to " + maxMessages + " messages,", Duration.ZERO);
    }
  }

  /** Replays dead letters in the order in which they were sent; each only once (D-03). */
  int replay(Selection selection, Placement putBack) {
    intake.lock();
    try {
      int replayed = 0;
      long now = ticks.now();
      for (var letter : shelf.select(selection)) {
        if (shelf.remove(letter.id())) {
          came();
          putBack.put(asNew(letter, now), now);
          replayed++;
        }
      }
      return replayed;
    } finally {
      intake.unlock();
    }
  }

  private Stored asNew(DeadLetter letter, long now) {
    // The time to live starts again; otherwise an expired message would expire again at once.
    var stored =
        new Stored(
            letter.message(),
            letter.sequence(),
            letter.enqueuedAt(),
            now,
            expiry(letter.message(), now),
            letter.replays() + 1);
    if (!letter.lastError().isEmpty()) {
      stored.trouble = new Stored.Trouble(letter.lastError(), letter.deadAt());
    }
    return stored;
  }

  private long expiry(Message message, long moment) {
    return Ticks.later(moment, message.ttl().orElse(settings.messageTtl()));
  }

  /** Puts a message into its session. */
  @FunctionalInterface
  interface Placement {
    void put(Stored stored, long now);
  }
}
