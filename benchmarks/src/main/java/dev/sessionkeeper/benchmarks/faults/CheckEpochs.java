package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Every acquisition of a session raises its epoch, no two have the same, and a settlement under an
 * old epoch after a newer one was given is refused. Under one epoch one handler runs at a time.
 */
final class CheckEpochs implements Checker {

  @Override
  public String promise() {
    return "one owner: epochs grow, old ones are refused";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history.bySession().forEach((id, events) -> new Pass(id, violations).over(events));
    return violations;
  }

  /** The check of one session. */
  private static final class Pass {
    private final String session;
    private final List<Violation> violations;
    private final Map<Long, Long> acceptingAt = new HashMap<>();
    private final Map<Long, Long> takenAt = new HashMap<>();
    private final Map<String, Event> settling = new HashMap<>();
    private final Map<String, Event> ended = new HashMap<>();
    private final Set<String> handlersInside = new HashSet<>();
    private long newest;

    Pass(String session, List<Violation> violations) {
      this.session = session;
      this.violations = violations;
    }

    void over(List<Event> events) {
      // An accept may begin before concurrent ones that it does not know of have ended.
      events.stream()
          .filter(event -> event.is(Kind.ACCEPTING))
          .forEach(event -> acceptingAt.put(event.epoch(), event.nanos()));
      events.forEach(this::next);
    }

    private void next(Event event) {
      switch (event.kind()) {
        case TAKEN -> taken(event);
        case SETTLING -> settling.put(key(event), event);
        case SETTLED -> settled(event);
        case BEGAN -> {
          if (!handlersInside.add(event.process() + event.epoch())) {
            violated(event, "two handlers at once under one lease");
          }
        }
        case ENDED -> {
          handlersInside.remove(event.process() + event.epoch());
          ended.put(key(event), event);
        }
        default -> {
          // The event says nothing about owners.
        }
      }
    }

    private void taken(Event event) {
      if (takenAt.containsKey(event.epoch())) {
        violated(event, "the epoch was handed out twice");
      }
      boolean beganLater =
          acceptingAt.getOrDefault(event.epoch(), 0L) > takenAt.getOrDefault(newest, 0L);
      if (event.epoch() < newest && beganLater) {
        violated(event, "epoch " + newest + " had been handed out before");
      }
      takenAt.put(event.epoch(), event.nanos());
      newest = Math.max(newest, event.epoch());
    }

    private void settled(Event event) {
      // A transaction settles when its handler ends; the processor's later settlement changes
      // nothing.
      boolean isTransactional =
          session.startsWith(CheckEffects.TRANSACTIONAL)
              && CheckEffects.isTransactional(event.process());
      var sent = (isTransactional ? ended : settling).get(key(event));
      for (var entry : takenAt.entrySet()) {
        boolean isNewer = entry.getKey() > event.epoch();
        if (isNewer && sent != null && sent.nanos() > entry.getValue()) {
          violated(event, "was confirmed although epoch " + entry.getKey() + " was handed out");
          return;
        }
      }
    }

    private static String key(Event event) {
      return event.process() + "/" + event.epoch() + "/" + event.number();
    }

    private void violated(Event event, String what) {
      violations.add(new Violation("owner", session + ": " + what + " (" + event + ")"));
    }
  }
}
