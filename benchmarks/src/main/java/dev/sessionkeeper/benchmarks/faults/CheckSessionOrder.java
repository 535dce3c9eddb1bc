package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Messages of a session are handled in the order of their sends: none begins before an earlier one
 * has ended, and none begins again after it was completed.
 *
 * <p>A session has one sender, which sends its numbers one after the other. A number that was never
 * acknowledged may come late or never. Replaced owners do not count here; {@link CheckLeases}
 * judges them.
 */
final class CheckSessionOrder implements Checker {

  @Override
  public String promise() {
    return "order per session";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach((id, events) -> new Pass(id, history.maxAttempts(), violations).over(events));
    return violations;
  }

  /** The check of one session. */
  private static final class Pass {
    private final String session;
    private final int maxAttempts;
    private final List<Violation> violations;
    private final TreeSet<Long> open = new TreeSet<>();
    private final Set<Long> ended = new HashSet<>();
    private final Set<Long> died = new HashSet<>();
    private final Map<Long, Long> latestOfEpoch = new HashMap<>();
    private final Set<Long> refusedEpochs = new HashSet<>();
    private long newestEpoch;
    private long latestCompleted;
    private boolean didPersonKill;
    private boolean isReplayed;

    Pass(String session, int maxAttempts, List<Violation> violations) {
      this.session = session;
      this.maxAttempts = maxAttempts;
      this.violations = violations;
    }

    void over(List<Event> events) {
      events.stream().filter(e -> e.is(Kind.DEAD)).forEach(e -> died.add(e.number()));
      events.forEach(this::next);
    }

    private void next(Event event) {
      long number = event.number();
      switch (event.kind()) {
        case SENT -> {
          if (!ended.contains(number)) {
            open.add(number);
          }
        }
        case TAKEN -> newestEpoch = Math.max(newestEpoch, event.epoch());
        case ACTING -> didPersonKill |= event.word().startsWith("DEAD_LETTER");
        case REPLAYING -> isReplayed = true;
        case BEGAN -> began(event);
        case ENDED -> {
          if (event.is(Kind.ENDED, Outcome.COMPLETE)) {
            ended.add(number);
            open.remove(number);
          }
          if (event.is(Kind.ENDED, Outcome.DEAD_LETTER)) {
            died.add(number);
          }
        }
        case SETTLED -> {
          if (event.is(Kind.SETTLED, Outcome.COMPLETE)) {
            latestCompleted = Math.max(latestCompleted, number);
          }
        }
        case REFUSED -> refusedEpochs.add(event.epoch());
        default -> {
          // The event says nothing about order.
        }
      }
    }

    private void began(Event event) {
      long number = event.number();
      if (event.value() >= maxAttempts) {
        died.add(number); // Its failure makes it a dead letter.
      }
      if (event.epoch() < newestEpoch) {
        return;
      }
      for (long earlier : List.copyOf(open.headSet(number))) {
        if (!died.contains(earlier) && !didPersonKill) {
          open.remove(earlier);
          violated(event, "began before message " + earlier + " had ended");
        }
      }
      boolean isBack = isReplayed && (died.contains(number) || didPersonKill);
      if (number < latestCompleted && !isBack) {
        violated(event, "began after message " + latestCompleted + " was completed");
      }
      long latest = latestOfEpoch.merge(event.epoch(), number, Math::max);
      if (number < latest && !isBack && !refusedEpochs.contains(event.epoch())) {
        violated(event, "began after message " + latest + " of the same hold");
      }
    }

    private void violated(Event event, String what) {
      violations.add(
          new Violation(
              "order", session + ": message " + event.number() + " " + what + " (" + event + ")"));
    }
  }
}
