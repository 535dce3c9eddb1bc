package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

  private final ArrayDeque<Delivery> deliveries = new ArrayDeque<>();
  private long readAt;
  private long lookAgainAt;
  private boolean mayHaveMore;
  private boolean isReceived;
  private boolean hasWaited;

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
  List<Long> take(
      List<ClaimedLane.Found> found, Instant moment, long askedAt, long answeredAt) {
    readAt = answeredAt;
    var old = new ArrayList<Long>();
    for (var next : found) {
      if (next.isExpired()) {
        old.add(next.delivery().sequence());
      } else if (next.dueAt().isPresent() && next.dueAt().get().isAfter(moment)) {
        lookAgainAt = askedAt + Duration.between(moment, next.dueAt().get()).toNanos();
        break;
      } else {
        deliveries.add(next.delivery());
      }
    }
    return old;
  }

  /** One that came by itself. */
  void feed(Delivery delivery) {
    InOrder.add(deliveries, delivery, Delivery::sequence);
  }

  /** Everything, for somebody else. */
  List<ClaimedLane.Found> takeAll() {
    var all =
        deliveries.stream()
            .map(delivery -> new ClaimedLane.Found(delivery, false, Optional.empty()))
            .toList();
    deliveries.clear();
    return all;
  }

  /** The next ones, while they are fresh; those of a carried session are. */
  List<Delivery> handOut(int max, long now, boolean mayBeOld) {
    if (deliveries.isEmpty()) {
      return List.of();
    }
    if (mayBeOld && now - readAt > FRESH_NANOS) {
      forget();
      return List.of();
    }
    isReceived = true;
    var batch = new ArrayList<Delivery>(Math.min(max, deliveries.size()));
    while (batch.size() < max && !deliveries.isEmpty()) {
      batch.add(deliveries.removeFirst());
    }
    return batch;
  }

  /** What was read does not count any more: it is read again. */
  void forget() {
    deliveries.clear();
    mayHaveMore = true;
  }

  void clear() {
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
