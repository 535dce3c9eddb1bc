package dev.sessionkeeper.testkit;

import dev.sessionkeeper.SessionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The record of all handlers of a run, which checks order (I1) and ownership (I2) while they work.
 *
 * <p>It is a fenced store, as an application should have one: it refuses calls with an old epoch.
 * Safe for many threads.
 */
final class RunRecord {
  private static final int MOST_VIOLATIONS = 10;
  private static final int MOST_LATELY = 16;

  private final ConcurrentHashMap<SessionId, Progress> sessions = new ConcurrentHashMap<>();
  private final List<String> violations = Collections.synchronizedList(new ArrayList<>());
  private final Set<String> completed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger handled = new AtomicInteger();
  private final AtomicInteger fenced = new AtomicInteger();

  /**
   * Records that a handler begins with message {@code number} of its session. Returns false if the
   * handler is too late.
   */
  boolean begin(SessionId session, long epoch, int number) {
    handled.incrementAndGet();
    var progress = sessions.computeIfAbsent(session, id -> new Progress());
    synchronized (progress) {
      if (epoch < progress.epoch) {
        fenced.incrementAndGet();
        return false;
      }
      if (epoch == progress.epoch && progress.isInside) {
        violated("I2", session, epoch, number, "two handlers at once under one lease");
      }
      if (number > progress.next) {
        violated("I1", session, epoch, number, "handled before message " + progress.next);
      }
      if (number < progress.next && epoch == progress.epoch) {
        violated("I1", session, epoch, number, "handled again in the hold that settled it");
      }
      progress.epoch = epoch;
      progress.isInside = true;
      progress.next = number;
      progress.note("began", number, epoch);
      return true;
    }
  }

  /**
   * Records that a handler has ended without completing its message, which will be retried unless
   * the lease is lost.
   */
  void endUndone(SessionId session, long epoch) {
    end(session, epoch, -1);
  }

  /** Records that a handler has ended and its message is done, unless the lease is lost. */
  void endDone(SessionId session, long epoch, int number) {
    if (end(session, epoch, number)) {
      completed.add(session + "#" + number);
    }
  }

  /** Records that the processor dead-lettered the message. */
  void setAside(SessionId session, long epoch, int number) {
    end(session, epoch, number);
  }

  private boolean end(SessionId session, long epoch, int number) {
    var progress = sessions.computeIfAbsent(session, id -> new Progress());
    synchronized (progress) {
      progress.note(number >= 0 ? "done" : "undone", Math.max(number, 0), epoch);
      if (epoch != progress.epoch) {
        return false;
      }
      progress.isInside = false;
      if (number >= 0) {
        progress.next = number + 1;
      }
      return true;
    }
  }

  boolean isCompleted(SessionId session, int number) {
    return completed.contains(session + "#" + number);
  }

  int completed() {
    return completed.size();
  }

  int handled() {
    return handled.get();
  }

  int fenced() {
    return fenced.get();
  }

  List<String> violations() {
    synchronized (violations) {
      return List.copyOf(violations);
    }
  }

  void violated(String rule, String what) {
    if (violations.size() < MOST_VIOLATIONS) {
      violations.add(rule + ": " + what);
    }
  }

  private void violated(String rule, SessionId session, long epoch, int number, String what) {
    var before = String.join(", ", sessions.computeIfAbsent(session, id -> new Progress()).lately);
    violated(
        rule,
        "message "
            + number
            + " of "
            + session
            + " in epoch "
            + epoch
            + " "
            + what
            + " (lately: "
            + before
            + ")");
  }

  private static final class Progress {
    private long epoch;
    private int next;
    private boolean isInside;
    private final ArrayDeque<String> lately = new ArrayDeque<>();

    void note(String what, int number, long ofEpoch) {
      if (lately.size() == MOST_LATELY) {
        lately.removeFirst();
      }
      lately.addLast(what + " " + number + " in " + ofEpoch);
    }
  }
}
