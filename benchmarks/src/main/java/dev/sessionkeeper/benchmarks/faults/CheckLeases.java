package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A lease is kept: no other owner gets the session before its end, unless the owner released it,
 * learned of its loss, an operator took the session away, or the database crashed. And no handler
 * begins long after its lease, unless its process was frozen.
 */
final class CheckLeases implements Checker {
  /** The time between reading a clock and the journal line. */
  private static final long TOLERANCE = 20_000_000;

  /** How late a handler may begin on a busy machine. */
  private static final long LATE = 2_000_000_000;

  @Override
  public String promise() {
    return "one owner: a lease lasts as long as told";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history.bySession().forEach((id, events) -> new Pass(id, history, violations).over(events));
    return violations;
  }

  /** The lease as its owner knows it. */
  private static final class Hold {
    private final String process;
    private final long takenAt;
    private long until;
    private boolean isOver;

    Hold(Event taken) {
      this.process = taken.process();
      this.takenAt = taken.nanos();
      this.until = taken.value();
    }
  }

  /** The check of one session. */
  private static final class Pass {
    private final String session;
    private final History history;
    private final List<Violation> violations;
    private final Map<Long, Hold> holds = new TreeMap<>();
    private int acts;

    Pass(String session, History history, List<Violation> violations) {
      this.session = session;
      this.history = history;
      this.violations = violations;
    }

    void over(List<Event> events) {
      events.forEach(this::next);
    }

    private void next(Event event) {
      var hold = holds.get(event.epoch());
      switch (event.kind()) {
        case TAKEN -> taken(event);
        case RENEWED -> {
          if (hold != null) {
            hold.until = Math.max(hold.until, event.value());
          }
        }
        case CLOSING, LOST -> {
          if (hold != null) {
            hold.isOver = true;
          }
        }
        case ACTING -> {
          acts++;
          holds.values().forEach(each -> each.isOver = true);
        }
        case ACTED -> acts--;
        case BEGAN -> {
          if (hold != null) {
            began(event, hold);
          }
        }
        default -> {
          // The event says nothing about leases.
        }
      }
    }

    private void taken(Event event) {
      holds.forEach(
          (epoch, hold) -> {
            boolean isEarly = event.nanos() + TOLERANCE < hold.until;
            if (epoch < event.epoch() && isEarly && !hold.isOver && !crashed(hold, event)) {
              violated(
                  event,
                  String.format(
                      "taken %d ms before the end of the lease of epoch %d, held by %s",
                      (hold.until - event.nanos()) / 1_000_000, epoch, hold.process));
            }
          });
      holds.values().removeIf(hold -> hold.isOver && hold.until < event.nanos() - LATE);
      var hold = new Hold(event);
      hold.isOver = acts > 0; // The act may take the session away a moment later.
      holds.put(event.epoch(), hold);
    }

    private boolean crashed(Hold hold, Event event) {
      return history.didDatabaseCrash(hold.takenAt, event.nanos());
    }

    private void began(Event event, Hold hold) {
      boolean isLate = event.nanos() > hold.until + LATE;
      boolean isReplaced = holds.keySet().stream().anyMatch(epoch -> epoch > event.epoch());
      if (isLate && isReplaced && !history.wasFrozen(event.process(), hold.until, event.nanos())) {
        violated(
            event,
            "a handler began "
                + (event.nanos() - hold.until) / 1_000_000
                + " ms after its lease, which another owner has");
      }
    }

    private void violated(Event event, String what) {
      violations.add(new Violation("lease", session + ": " + what + " (" + event + ")"));
    }
  }
}
