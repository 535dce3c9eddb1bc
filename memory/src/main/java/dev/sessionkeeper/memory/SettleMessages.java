package dev.sessionkeeper.memory;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.SessionStatus;
import java.time.Duration;

/** Applies settlements to the first message of a lane. Callers hold the lane's lock. */
final class SettleMessages {
  static final String EXPIRED = "expired";
  private static final String LEASE_RAN_OUT = "the lease ran out before the message was settled";
  private static final Settlement.Retry FAILED_BY_LEASE =
      new Settlement.Retry(Duration.ZERO, true, true, LEASE_RAN_OUT);

  private final QueueBooks books;

  SettleMessages(QueueBooks books) {
    this.books = books;
  }

  void settle(Lane lane, Settlement settlement, long now) {
    switch (settlement) {
      case Settlement.Complete complete -> complete(lane, now);
      case Settlement.Retry retry -> retry(lane, retry, now);
      case Settlement.DeadLetter letter -> deadLetter(lane, letter, 1, now);
      case Settlement.Park park -> {
        failed(lane, park.reason());
        lane.voidDeliveries();
        park(lane, park.reason(), now);
      }
    }
  }

  /**
   * Ends an expired lease: the current message has used its attempt, those behind it have not
   * (S-05).
   */
  void leaseRanOut(Lane lane, long now) {
    if (lane.handed > 0) {
      var head = lane.messages.get(0);
      failed(lane, LEASE_RAN_OUT);
      settleFailed(lane, head, FAILED_BY_LEASE, now);
    }
    lane.free();
  }

  /** Dead-letters a waiting message that has expired. */
  void expire(Lane lane, int index) {
    var old = lane.messages.remove(index);
    books.setAside(old, old.attempts, EXPIRED, old.lastError());
  }

  /** Dead-letters the first message for an operator. */
  void deadLetterHead(Lane lane, boolean wasTried, String reason, long now) {
    var dead = removeHead(lane, now);
    books.setAside(dead, dead.attempts + (wasTried ? 1 : 0), reason, dead.lastError());
  }

  /** Returns the error of the dead letter, or else that of the previous attempt. */
  static String errorOf(Settlement.DeadLetter letter, Stored dead) {
    return letter.error().isEmpty() ? dead.lastError() : letter.error();
  }

  private void retry(Lane lane, Settlement.Retry retry, long now) {
    var head = lane.messages.get(0);
    if (retry.counted()) {
      failed(lane, retry.reason());
    } else {
      troubled(head, retry.reason());
    }
    head.dueAt = Ticks.later(now, retry.delay());
    settleFailed(lane, head, retry, now);
    lane.voidDeliveries();
  }

  private void failed(Lane lane, String error) {
    var head = lane.messages.get(0);
    head.attempts++;
    troubled(head, error);
  }

  private void troubled(Stored message, String error) {
    message.trouble = new Stored.Trouble(error, books.ticks.instant());
  }

  /** Removes the first message; if it blocked its session, the session is no longer blocked. */
  private static Stored removeHead(Lane lane, long now) {
    var head = lane.removeHead();
    lane.thawUnlessAside(now);
    return head;
  }

  /** Settles a failed message: the queue's settings decide whether it is retried. */
  private void settleFailed(Lane lane, Stored head, Settlement.Retry retry, long now) {
    switch (books.settings().settlementAfter(head.attempts, retry)) {
      case Settlement.Complete complete -> complete(lane, now);
      case Settlement.DeadLetter letter -> deadLetter(lane, letter, 0, now);
      case Settlement.Park park -> park(lane, park.reason(), now);
      case Settlement.Retry again -> {
        if (retry.limited() && head.attempts >= books.settings().maxDeliveryCount()) {
          lane.freeze(now);
        }
      }
    }
  }

  private void complete(Lane lane, long now) {
    removeHead(lane, now);
    books.left();
  }

  private void deadLetter(Lane lane, Settlement.DeadLetter letter, int more, long now) {
    var dead = removeHead(lane, now);
    books.setAside(dead, dead.attempts + more, letter.reason(), errorOf(letter, dead));
  }

  private void park(Lane lane, String reason, long now) {
    lane.aside = new Lane.Aside(SessionStatus.PARKED, reason, books.ticks.instant());
    lane.freeze(now);
  }
}
