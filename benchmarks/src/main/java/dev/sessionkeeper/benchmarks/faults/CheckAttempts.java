package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * No attempt is counted for a message that was not delivered: before attempt 3, or a dead letter of
 * 2 attempts, attempts 1 and 2 must have been delivered.
 *
 * <p>A process that is killed, or stopped beyond its leases, may have received a message without
 * time to record it; one whose connection is cut may never get the answer. Each such fault explains
 * one missing line for as many sessions as a process holds; a crash of the database explains that
 * for every process.
 */
final class CheckAttempts implements Checker {

  @Override
  public String promise() {
    return "attempts are counted for hand-outs only";
  }

  @Override
  public List<Violation> check(History history) {
    var excuses = new Excuses(history);
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) ->
                History.byNumber(events)
                    .forEach(
                        (number, all) ->
                            check(session, number, all, excuses).forEach(violations::add)));
    return violations;
  }

  private static List<Violation> check(
      String session, long number, List<Event> events, Excuses excuses) {
    var handed = new HashSet<Long>();
    var counted = new TreeMap<Long, Event>();
    for (var event : events) {
      if (event.is(Kind.HANDED)) {
        handed.add(event.value());
        counted.putIfAbsent(event.value() - 1, event);
      }
      if (event.is(Kind.DEAD)) {
        counted.putIfAbsent(event.value(), event);
      }
    }
    var violations = new ArrayList<Violation>();
    if (counted.isEmpty()) {
      return violations;
    }
    long since = events.get(0).nanos();
    for (long attempt = 1; attempt <= counted.lastKey(); attempt++) {
      var seenBy = counted.ceilingEntry(attempt).getValue();
      if (!handed.contains(attempt) && !excuses.take(session, since, seenBy.nanos())) {
        violations.add(
            new Violation(
                "attempts",
                session
                    + ": message "
                    + number
                    + " was never handed out as attempt "
                    + attempt
                    + ", which "
                    + seenBy
                    + " follows"));
      }
    }
    return violations;
  }

  /** The numbers of missing lines that each fault may still explain. */
  private static final class Excuses {
    private final History history;
    private final Map<Event, Set<String>> used = new HashMap<>();
    private final int processes;

    Excuses(History history) {
      this.history = history;
      this.processes =
          (int)
              history.events().stream()
                  .filter(e -> e.is(Kind.TAKEN))
                  .map(Event::process)
                  .map(name -> name.replaceAll("\\..*", ""))
                  .distinct()
                  .count();
    }

    boolean take(String session, long from, long to) {
      for (var fault : history.faults()) {
        if (fault.nanos() < from || fault.nanos() > to || fault.is(Kind.THAWED)) {
          continue;
        }
        var sessions = used.computeIfAbsent(fault, it -> new HashSet<>());
        int most = history.slots() * (fault.is(Kind.CRASHING) ? processes : 1);
        if (sessions.size() < most && sessions.add(session)) {
          return true;
        }
      }
      return false;
    }
  }
}
