package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * What was read of a held lane and is in nobody's hands yet, and when to read again. Guarded by the
 * lock of its lane.
 *
 * <p>What was read longer ago than {@link #FRESH_NANOS} is not handed out: it is read again, under
 * the fence.
 */
final class Fetched {
  static final long FRESH_NANOS = Duration.ofMillis(250).toNanos();

  private static final long POLL_NANOS = Duration.ofSeconds(1).toNanos();

  /** A message that came in the very moment of the claim is found this soon by who waits. */
  private static final long LOOK_AFTER_CLAIM_NANOS = Duration.ofMillis(20).toNanos();

  private final ArrayDeque<FoundMessage> deliveries = new ArrayDeque<>();
  private final BodyMemory.Share memory;
  private long readAt;
  private long lookAgainAt;
  private boolean mayHaveMore;
  private boolean isReceived;
  private boolean hasWaited;

  Fetched(BodyMemory.Share memory) {
    this.memory = memory;
  }

  boolean isEmpty() {
    return deliveries.isEmpty();
  }

  int size() {
    return deliveries.size();
  }

  /** Whether something is known, or suspected, to be there that was not read. */
  boolean mayHaveMore() {
    return mayHaveMore;
  }

  long lookAgainAt() {
    return lookAgainAt;
  }

  /** A read begins: what comes from now on is news again. */
  void beginRead(long now) {
    mayHaveMore = false;
    lookAgainAt = now + POLL_NANOS;
  }

  void suspectMore() {
    mayHaveMore = true;
  }

  /** Nobody waited for it before: one look comes soon. */
  void beginWait(long now) {
    if (!hasWaited) {
      hasWaited = true;
      lookAgainAt = Math.min(lookAgainAt, now + LOOK_AFTER_CLAIM_NANOS);
    }
  }

  /**
   * Takes what may be handed out of what was found.
   *
   * @param moment what time it was for the database
   * @param askedAt when it was asked
   * @param answeredAt when the answer was there
   * @return the numbers of those that are too old
   */
  List<Long> take(List<FoundMessage> found, Instant moment, long askedAt, long answeredAt) {
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

  /** One that came by itself. */
  void feed(FoundMessage found) {
    InOrder.add(deliveries, found, one -> one.delivery().sequence());
    memory.add(found.bytes());
  }

  /** Everything, for somebody else. */
  List<FoundMessage> takeAll() {
    var all = List.copyOf(deliveries);
    clear();
    return all;
  }

  /** Whether the next one has become too old in memory. */
  boolean isNextExpired(Instant moment) {
    return !deliveries.isEmpty() && !deliveries.getFirst().expires().isAfter(moment);
  }

  /**
   * The next ones, while they are fresh, which those of a carried session are, and not too old.
   *
   * @param moment what time it is for the database
   */
  List<Delivery> handOut(int max, long now, boolean mayBeOld, Instant moment) {
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
    }
    return batch;
  }

  /** What was read does not count any more: it is read again. */
  void forget() {
    clear();
    mayHaveMore = true;
  }

  void clear() {
    for (var found : deliveries) {
      memory.remove(found.bytes());
    }
    deliveries.clear();
  }

  /** Something of it is, or was, in somebody's hands. */
  void received() {
    isReceived = true;
  }

  /** Forgets it if nobody wanted it for a while; whether that was so. */
  boolean dropUnreceived(long now) {
    if (isReceived || now - readAt < FRESH_NANOS) {
      return false;
    }
    isReceived = true;
    forget();
    return true;
  }
}
