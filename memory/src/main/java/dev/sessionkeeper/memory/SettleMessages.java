package dev.sessionkeeper.memory;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.SessionStatus;
import java.time.Duration;

/** Applies settlements to the first message of a session. Callers hold the session's lock. */
final class SettleMessages {
  static final String EXPIRED = "expired";
  private static final String LEASE_RAN_OUT = "the lease ran out before the message was settled";
  private static final Settlement.Retry FAILED_BY_LEASE =
      new Settlement.Retry(Duration.ZERO, true, true, LEASE_RAN_OUT);

  private final QueueBooks books;

  SettleMessages(QueueBooks books) {
    this.books = books;
  }

  void settle(SessionEntry entry, Settlement settlement, long now) {
    switch (settlement) {
      case Settlement.Complete complete -> complete(entry, now);
      case Settlement.Retry retry -> retry(entry, retry, now);
      case Settlement.DeadLetter letter -> deadLetter(entry, letter, 1, now);
      case Settlement.Park park -> {
        failed(entry, park.reason());
        entry.voidDeliveries();
        park(entry, park.reason(), now);
      }
    }
  }

  /**
   * Ends an expired lease: the current message has used its attempt, those behind it have not
   * (S-05).
   */
  void leaseRanOut(SessionEntry entry, long now) {
    if (entry.handed > 0) {
      var head = entry.messages.get(0);
      failed(entry, LEASE_RAN_OUT);
      settleFailed(entry, head, FAILED_BY_LEASE, now);
    }
    entry.free();
  }

  /** Dead-letters a waiting message that has expired. */
  void expire(SessionEntry entry, int index) {
    var old = entry.messages.remove(index);
    books.setAside(old, old.attempts, EXPIRED, old.lastError());
  }

  /** Dead-letters the first message for an operator. */
  void deadLetterHead(SessionEntry entry, boolean wasTried, String reason, long now) {
    var dead = removeHead(entry, now);
    books.setAside(dead, dead.attempts + (wasTried ? 1 : 0), reason, dead.lastError());
  }

  /** Returns the error of the dead letter, or else that of the previous attempt. */
  static String errorOf(Settlement.DeadLetter letter, Stored dead) {
    return letter.error().isEmpty() ? dead.lastError() : letter.error();
  }

  private void retry(SessionEntry entry, Settlement.Retry retry, long now) {
    var head = entry.messages.get(0);
    if (retry.counted()) {
      failed(entry, retry.reason());
    } else {
      troubled(head, retry.reason());
    }
    head.dueAt = Ticks.later(now, retry.delay());
    settleFailed(entry, head, retry, now);
    entry.voidDeliveries();
  }

  private void failed(SessionEntry entry, String error) {
    var head = entry.messages.get(0);
    head.attempts++;
    troubled(head, error);
  }

  private void troubled(Stored message, String error) {
    message.trouble = new Stored.Trouble(error, books.ticks.instant());
  }

  /** Removes the first message; if it blocked its session, the session is no longer blocked. */
  private static Stored removeHead(SessionEntry entry, long now) {
    var head = entry.removeHead();
    entry.resumeTtlUnlessAside(now);
    return head;
  }

  /** Settles a failed message: the queue's settings decide whether it is retried. */
  private void settleFailed(SessionEntry entry, Stored head, Settlement.Retry retry, long now) {
    switch (books.settings().settlementAfter(head.attempts, retry)) {
      case Settlement.Complete complete -> complete(entry, now);
      case Settlement.DeadLetter letter -> deadLetter(entry, letter, 0, now);
      case Settlement.Park park -> park(entry, park.reason(), now);
      case Settlement.Retry again -> {
        if (retry.limited() && head.attempts >= books.settings().maxDeliveryCount()) {
          entry.stopTtl(now);
        }
      }
    }
  }

  private void complete(SessionEntry entry, long now) {
    removeHead(entry, now);
    books.left();
  }

  private void deadLetter(SessionEntry entry, Settlement.DeadLetter letter, int more, long now) {
    var dead = removeHead(entry, now);
    books.setAside(dead, dead.attempts + more, letter.reason(), errorOf(letter, dead));
  }

  private void park(SessionEntry entry, String reason, long now) {
    entry.aside = new SessionEntry.Aside(SessionStatus.PARKED, reason, books.ticks.instant());
    entry.stopTtl(now);
  }
}
