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
    var entry = queue.locked(session);
    try {
      long now = queue.ticks().now();
      // An expired lease ends first, and counts its attempt, before the act is applied.
      queue.endIfRunOut(entry, now);
      int changed = apply(entry, act, reason, now);
      queue.place(entry, now);
      return changed;
    } finally {
      entry.lock.unlock();
    }
  }

  private int apply(SessionEntry entry, Act act, String reason, long now) {
    return switch (act) {
      case PAUSE -> setAside(entry, SessionStatus.PAUSED, reason, now);
      case PARK -> setAside(entry, SessionStatus.PARKED, reason, now);
      case RESUME -> resume(entry, now);
      case RELEASE -> release(entry);
      case DEAD_LETTER_HEAD -> deadLetter(entry, Math.min(1, entry.messages.size()), reason, now);
      case DEAD_LETTER_ALL -> deadLetter(entry, entry.messages.size(), reason, now);
    };
  }

  private int setAside(SessionEntry entry, SessionStatus status, String reason, long now) {
    queue.release(entry);
    // A parked session that is paused stays parked, which is the stronger status.
    if (entry.aside != null
        && (entry.aside.status() == status || entry.aside.status() == SessionStatus.PARKED)) {
      return 0;
    }
    entry.aside = new SessionEntry.Aside(status, reason, queue.ticks().instant());
    entry.stopTtl(now);
    return 1;
  }

  private static int resume(SessionEntry entry, long now) {
    // A session whose head waits also continues now.
    boolean waits = !entry.held && !entry.messages.isEmpty() && !entry.hasWork(now);
    if (entry.aside == null && !waits) {
      return 0;
    }
    entry.aside = null;
    entry.resumeTtlUnlessAside(now);
    if (!entry.messages.isEmpty()) {
      var head = entry.messages.get(0);
      head.dueAt = Math.min(head.dueAt, now);
    }
    return 1;
  }

  private int release(SessionEntry entry) {
    boolean held = entry.held;
    queue.release(entry);
    return held ? 1 : 0;
  }

  private int deadLetter(SessionEntry entry, int count, String reason, long now) {
    boolean inHand = entry.handed > 0;
    queue.release(entry);
    for (int i = 0; i < count; i++) {
      // Only the first message was being tried; those delivered behind it were not.
      queue.settleMessages.deadLetterHead(entry, inHand && i == 0, reason, now);
    }
    return count;
  }
}
