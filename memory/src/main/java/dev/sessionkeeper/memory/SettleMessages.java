package dev.sessionkeeper.memory;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.SessionStatus;

/** Applies what became of the first message of a lane. Callers hold the lane's lock. */
final class SettleMessages {
  static final String EXPIRED = "expired";
  static final String USED_UP = "max delivery count reached";
  private static final String LEASE_RAN_OUT = "the lease ran out before the message was settled";

  private final QueueBooks books;

  SettleMessages(QueueBooks books) {
    this.books = books;
  }

  void settle(Lane lane, Settlement settlement, long now) {
    switch (settlement) {
      case Settlement.Complete complete -> {
        removeHead(lane, now);
        books.left();
      }
      case Settlement.Retry retry -> retry(lane, retry, now);
      case Settlement.DeadLetter letter -> {
        var dead = removeHead(lane, now);
        books.setAside(dead, dead.attempts + 1, letter.reason(), errorOf(letter, dead));
      }
      case Settlement.Park park -> {
        failed(lane, park.reason());
        lane.voidDeliveries();
        park(lane, park.reason(), now);
      }
    }
  }

  /** The lease ran out: the message in hand had its attempt, those behind it had none (S-05). */
  void leaseRanOut(Lane lane, long now) {
    if (lane.handed > 0) {
      var head = lane.messages.get(0);
      failed(lane, LEASE_RAN_OUT);
      if (isUsedUp(head)) {
        poisoned(lane, LEASE_RAN_OUT, now);
      }
    }
    lane.free();
  }

  /** Makes a waiting message that has become too old a dead letter. */
  void expire(Lane lane, int index) {
    var old = lane.messages.remove(index);
    books.setAside(old, old.attempts, EXPIRED, old.lastError());
  }

  /** Makes the first message a dead letter because a person wants so. */
  void deadLetterHead(Lane lane, boolean wasTried, String reason, long now) {
    var dead = removeHead(lane, now);
    books.setAside(dead, dead.attempts + (wasTried ? 1 : 0), reason, dead.lastError());
  }

  /** The error that came with a dead letter, or else the one of the attempt before. */
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
    if (retry.limited() && isUsedUp(head)) {
      poisoned(lane, retry.reason(), now);
    }
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

  private boolean isUsedUp(Stored message) {
    return message.attempts >= books.settings().maxDeliveryCount();
  }

  /** Forgets the first message; if it blocked its session, the session is blocked no more. */
  private static Stored removeHead(Lane lane, long now) {
    var head = lane.removeHead();
    lane.thawUnlessAside(now);
    return head;
  }

  private void poisoned(Lane lane, String error, long now) {
    switch (books.settings().poisonPolicy()) {
      case DEAD_LETTER -> {
        var dead = removeHead(lane, now);
        books.setAside(dead, dead.attempts, USED_UP, error);
      }
      case PARK_SESSION -> park(lane, error.isEmpty() ? USED_UP : USED_UP + ": " + error, now);
      // It stays where it is and is tried again.
      case BLOCK, STOP -> lane.freeze(now);
    }
  }

  private void park(Lane lane, String reason, long now) {
    lane.aside = new Lane.Aside(SessionStatus.PARKED, reason, books.ticks.instant());
    lane.freeze(now);
  }

  /** The policy for a message that has no session to be parked. */
  static PoisonPolicy withoutSession(PoisonPolicy policy) {
    return policy == PoisonPolicy.PARK_SESSION ? PoisonPolicy.DEAD_LETTER : policy;
  }
}
