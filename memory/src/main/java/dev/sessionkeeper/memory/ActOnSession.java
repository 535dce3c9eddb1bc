package dev.sessionkeeper.memory;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.SessionStatus;

/** Applies an operator's act to a session. */
final class ActOnSession {
  private final OrderedQueue queue;

  ActOnSession(OrderedQueue queue) {
    this.queue = queue;
  }

  int act(SessionId session, Act act, String reason) {
    var lane = queue.locked(session);
    try {
      long now = queue.ticks().now();
      // An expired lease ends first, and counts its attempt, before the act is applied.
      queue.endIfRunOut(lane, now);
      int changed = apply(lane, act, reason, now);
      queue.place(lane, now);
      return changed;
    } finally {
      lane.lock.unlock();
    }
  }

  private int apply(Lane lane, Act act, String reason, long now) {
    return switch (act) {
      case PAUSE -> setAside(lane, SessionStatus.PAUSED, reason, now);
      case PARK -> setAside(lane, SessionStatus.PARKED, reason, now);
      case RESUME -> resume(lane, now);
      case RELEASE -> release(lane);
      case DEAD_LETTER_HEAD -> deadLetter(lane, Math.min(1, lane.messages.size()), reason, now);
      case DEAD_LETTER_ALL -> deadLetter(lane, lane.messages.size(), reason, now);
    };
  }

  private int setAside(Lane lane, SessionStatus status, String reason, long now) {
    queue.release(lane);
    // A parked session that is paused stays parked, which is the stronger status.
    if (lane.aside != null
        && (lane.aside.status() == status || lane.aside.status() == SessionStatus.PARKED)) {
      return 0;
    }
    lane.aside = new Lane.Aside(status, reason, queue.ticks().instant());
    lane.freeze(now);
    return 1;
  }

  private static int resume(Lane lane, long now) {
    // A session whose head waits also continues now.
    boolean waits = !lane.held && !lane.messages.isEmpty() && !lane.hasWork(now);
    if (lane.aside == null && !waits) {
      return 0;
    }
    lane.aside = null;
    lane.thawUnlessAside(now);
    if (!lane.messages.isEmpty()) {
      var head = lane.messages.get(0);
      head.dueAt = Math.min(head.dueAt, now);
    }
    return 1;
  }

  private int release(Lane lane) {
    boolean held = lane.held;
    queue.release(lane);
    return held ? 1 : 0;
  }

  private int deadLetter(Lane lane, int count, String reason, long now) {
    boolean inHand = lane.handed > 0;
    queue.release(lane);
    for (int i = 0; i < count; i++) {
      // Only the first message was being tried; those delivered behind it were not.
      queue.settleMessages.deadLetterHead(lane, inHand && i == 0, reason, now);
    }
    return count;
  }
}
