package dev.sessionkeeper.postgres.prefetch;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.postgres.row.FoundMessage;
import dev.sessionkeeper.postgres.row.SequenceOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages of one hold that were read and not yet handed out, and when to read again. Guarded
 * by the lock of the hold.
 *
 * <p>A message that was read longer ago than {@link #FRESH_NANOS} is not handed out: it is read
 * again, under the fence.
 */
public final class PrefetchedMessages {
  static final long FRESH_NANOS = Duration.ofMillis(250).toNanos();

  private static final long POLL_NANOS = Duration.ofSeconds(1).toNanos();

  /**
   * A message that is sent at the moment of a claim is missed by the claim. A consumer that waits
   * fetches once more after this time.
   */
  private static final long LOOK_AFTER_CLAIM_NANOS = Duration.ofMillis(20).toNanos();

  private final ArrayDeque<FoundMessage> deliveries = new ArrayDeque<>();

  /** Messages of a session in memory that were handed out and are not settled, in their order. */
  private final ArrayDeque<FoundMessage> open = new ArrayDeque<>();

  private final PrefetchBudget.Share memory;
  private long readAt;
  private long lookAgainAt;
  private boolean mayHaveMore;
  private boolean isReceived;
  private boolean hasWaited;

  public PrefetchedMessages(PrefetchBudget.Share memory) {
    this.memory = memory;
  }

  public boolean isEmpty() {
    return deliveries.isEmpty();
  }

  public int size() {
    return deliveries.size();
  }

  /** Returns whether there may be messages that were not read. */
  public boolean mayHaveMore() {
    return mayHaveMore;
  }

  public long lookAgainAt() {
    return lookAgainAt;
  }

  /** Records that a read begins, which sees all messages so far. */
  public void beginRead(long now) {
    mayHaveMore = false;
    lookAgainAt = now + POLL_NANOS;
  }

  public void suspectMore() {
    mayHaveMore = true;
  }

  /** Records that a consumer waits. The first time, a fetch follows soon. */
  public void beginWait(long now) {
    if (!hasWaited) {
      hasWaited = true;
      lookAgainAt = Math.min(lookAgainAt, now + LOOK_AFTER_CLAIM_NANOS);
    }
  }

  /**
   * Takes the messages that may be handed out.
   *
   * @param moment the database's time
   * @param askedAt when the statement was sent
   * @param answeredAt when its answer came
   * @return the numbers of expired messages
   */
  public List<Long> take(List<FoundMessage> found, Instant moment, long askedAt, long answeredAt) {
    readAt = answeredAt;
    var old = new ArrayList<Long>();
    for (var next : found) {
      if (next.isExpired()) {
        old.add(next.delivery().sequence());
      } else if (next.dueAt().isPresent() && next.dueAt().get().isAfter(moment)) {
        lookAgainAt = askedAt + Duration.between(moment, next.dueAt().get()).toNanos();
        break;
      } else {
        deliveries.add(next);
        memory.add(next.bytes());
      }
    }
    return old;
  }

  /** Adds a message from the reader. */
  public void feed(FoundMessage found) {
    SequenceOrder.add(deliveries, found, one -> one.delivery().sequence());
    memory.add(found.bytes());
  }

  /** Removes and returns all messages. */
  public List<FoundMessage> takeAll() {
    var all = List.copyOf(deliveries);
    clear();
    return all;
  }

  /** Returns whether the next message has expired in memory. */
  public boolean isNextExpired(Instant moment) {
    return !deliveries.isEmpty() && !deliveries.getFirst().expires().isAfter(moment);
  }

  /**
   * Hands out the next messages that are fresh and not expired. Messages in the memory of a reader
   * are always fresh.
   *
   * @param moment the database's time
   */
  public List<Delivery> handOut(int max, long now, boolean mayBeOld, Instant moment) {
    if (deliveries.isEmpty()) {
      return List.of();
    }
    if (mayBeOld && now - readAt > FRESH_NANOS) {
      forget();
      return List.of();
    }
    isReceived = true;
    var batch = new ArrayList<Delivery>(Math.min(max, deliveries.size()));
    while (batch.size() < max && !deliveries.isEmpty() && !isNextExpired(moment)) {
      var next = deliveries.removeFirst();
      memory.remove(next.bytes());
      batch.add(next.delivery());
      if (!mayBeOld) {
        open.addLast(next);
      }
    }
    return batch;
  }

  /** Records that messages are settled for good, up to this one. */
  public void settled(long sequence) {
    while (!open.isEmpty() && open.getFirst().sequence() <= sequence) {
      open.removeFirst();
    }
  }

  /** Returns the attempt in which the handler has this message; zero when it must be read again. */
  public int attemptOf(long sequence) {
    return open.stream()
        .filter(found -> found.sequence() == sequence)
        .findFirst()
        .map(found -> found.delivery().attempt())
        .orElse(0);
  }

  /** Takes back a message that has failed, and those that were handed out behind it. */
  public void retry(long sequence) {
    takeBackBehind(sequence);
    if (open.isEmpty() || open.getLast().sequence() != sequence) {
      return; // A purge has made this hold forget its messages.
    }
    var failed = open.removeLast();
    deliveries.addFirst(failed.after(failed.delivery().attempt()));
    memory.add(failed.bytes());
  }

  /** Takes back messages that were handed out behind this one: they are void. */
  public void takeBackBehind(long sequence) {
    while (!open.isEmpty() && open.getLast().sequence() > sequence) {
      var next = open.removeLast();
      deliveries.addFirst(next);
      memory.add(next.bytes());
    }
  }

  /** Drops the messages, so that they are read again. */
  public void forget() {
    clear();
    mayHaveMore = true;
  }

  public void clear() {
    for (var found : deliveries) {
      memory.remove(found.bytes());
    }
    deliveries.clear();
    open.clear();
  }

  /** Records that a message was handed out. */
  public void received() {
    isReceived = true;
  }

  /** Drops the messages if no consumer wanted them for a while. Returns whether that was so. */
  public boolean dropUnreceived(long now) {
    if (isReceived || now - readAt < FRESH_NANOS) {
      return false;
    }
    isReceived = true;
    forget();
    return true;
  }
}
