package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.testkit.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Progress: a session with a message that waits gets a delivery within a bound, and not at the end
 * of some lease that no process uses any more.
 *
 * <p>The death of a reader delays its sessions until its lease has ended: 11 seconds at most. Its
 * successor may die too, and so may the next one. Longer delays count only the time in which the
 * session was neither paused nor leased by a process that had failed, and the database ran.
 *
 * <p>A process that is killed may have leased the session a moment before, without a line in its
 * journal, or may not have given it back yet. So a lease of any process that fails a moment after
 * the session was free counts as a lease of the session.
 */
final class CheckProgress implements Checker {
  /** The bound of the design for one reader that dies. */
  private static final Duration TAKE_OVER = Duration.ofSeconds(11);

  /** Readers of one session that may die one after the other. */
  private static final int DEATHS_IN_A_ROW = 3;

  static final Duration BOUND = TAKE_OVER.multipliedBy(DEATHS_IN_A_ROW);

  /** The longest time between a statement and its line in a journal. */
  private static final long MOMENT = Duration.ofSeconds(3).toNanos();

  private static final Set<Kind> FAILURES =
      Set.of(Kind.KILLED, Kind.FROZEN, Kind.ISOLATED, Kind.CUT);

  @Override
  public String promise() {
    return "progress: a waiting message is delivered within " + BOUND.toSeconds() + " s";
  }

  @Override
  public List<Violation> check(History history) {
    var failures = new HashMap<String, List<Long>>();
    var recoveries = new ArrayList<Long>();
    for (var event : history.events()) {
      if (FAILURES.contains(event.kind())) {
        failures.computeIfAbsent(event.word(), name -> new ArrayList<>()).add(event.nanos());
      } else if (event.is(Kind.CRASHING) || event.is(Kind.RECOVERED)) {
        recoveries.add(event.nanos());
      }
    }
    long lease =
        history.events().stream()
            .filter(event -> event.is(Kind.TAKEN))
            .mapToLong(event -> event.value() - event.nanos())
            .max()
            .orElse(0);
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (id, events) -> {
              var pass = new Pass(id, failures, recoveries, lease, violations);
              pass.over(events);
            });
    return violations;
  }

  /** A lease as a process was told of it. */
  private record Told(String process, long from, long until) {}

  /** The check of one session. */
  private static final class Pass {
    private final String session;
    private final Map<String, List<Long>> failures;
    private final List<Long> recoveries;

    /** The longest lease of the run. */
    private final long lease;

    private final List<Violation> violations;
    private final Map<Long, Long> sentAt = new HashMap<>();
    private final Map<Long, Long> lastDelivered = new HashMap<>();
    private final Map<Long, Told> leases = new HashMap<>();

    /** When the session last got a delivery, or was kept from one by an operator. */
    private long movedAt = Long.MIN_VALUE;

    private boolean isAside;

    Pass(
        String session,
        Map<String, List<Long>> failures,
        List<Long> recoveries,
        long lease,
        List<Violation> violations) {
      this.session = session;
      this.failures = failures;
      this.recoveries = recoveries;
      this.lease = lease;
      this.violations = violations;
    }

    void over(List<Event> events) {
      var dead = new HashSet<Long>();
      for (var event : events) {
        switch (event.kind()) {
          case SENT -> sentAt.putIfAbsent(event.number(), event.nanos());
          case HANDED, BEGAN -> lastDelivered.put(event.number(), event.nanos());
          case DEAD -> dead.add(event.number());
          default -> {
            // The event is about no message.
          }
        }
      }
      // A message without a delivery is lost, or an operator has set it aside: other checkers know.
      sentAt.keySet().retainAll(lastDelivered.keySet());
      sentAt.keySet().removeAll(dead);
      events.forEach(this::next);
    }

    private void next(Event event) {
      switch (event.kind()) {
        case TAKEN, RENEWED -> {
          var before = leases.get(event.epoch());
          long from = before == null ? event.nanos() : before.from;
          leases.put(event.epoch(), new Told(event.process(), from, event.value()));
        }
        case CLOSING, LOST -> {
          if (!hasFailed(leases.get(event.epoch()), event.nanos())) {
            leases.remove(event.epoch());
          }
        }
        case ACTING, ACTED, REPLAYING -> {
          isAside = event.word().equals("PAUSE") || event.word().equals("PARK");
          movedAt = event.nanos();
        }
        case HANDED, BEGAN -> {
          if (!isAside) {
            judge(event);
          }
          movedAt = event.nanos();
          isAside = false;
        }
        default -> {
          // The event is no delivery.
        }
      }
    }

    /** Judges the time between the last delivery and this one. */
    private void judge(Event event) {
      long first = Long.MAX_VALUE;
      for (var sent : sentAt.entrySet()) {
        if (lastDelivered.getOrDefault(sent.getKey(), 0L) >= event.nanos()) {
          first = Math.min(first, sent.getValue());
        }
      }
      if (first == Long.MAX_VALUE) {
        return;
      }
      long since = behindLeaseOfFailed(Math.max(movedAt, first), event.nanos());
      for (var told : leases.values()) {
        if (told.process.contains(HolderProcess.ROLE) || hasFailed(told, event.nanos())) {
          since = Math.max(since, Math.min(told.until, event.nanos()));
        }
      }
      for (long recovered : recoveries) {
        since = recovered <= event.nanos() ? Math.max(since, recovered) : since;
      }
      since = behindLeaseOfFailed(since, event.nanos());
      if (event.nanos() - since > BOUND.toNanos()) {
        violations.add(
            new Violation(
                "progress",
                session
                    + ": no delivery for "
                    + (event.nanos() - since) / 1_000_000
                    + " ms while a message waited ("
                    + event
                    + ")"));
      }
    }

    /** Returns the end of a lease that a process may have had that failed then; else the same. */
    private long behindLeaseOfFailed(long free, long upto) {
      long since = free;
      for (var moments : failures.values()) {
        for (long failed : moments) {
          if (failed >= free - MOMENT && failed <= free + MOMENT) {
            since = Math.max(since, Math.min(failed + lease, upto));
          }
        }
      }
      return since;
    }

    /** Returns whether the owner failed during its lease, or one of its connections was cut. */
    private boolean hasFailed(@Nullable Told told, long upto) {
      if (told == null) {
        return false;
      }
      return isAny(failures.get(told.process), told.from, upto)
          || isAny(failures.get(""), told.from, upto)
          || isAny(recoveries, told.from, upto);
    }

    private static boolean isAny(@Nullable List<Long> moments, long from, long upto) {
      return moments != null && moments.stream().anyMatch(at -> at >= from && at <= upto);
    }
  }
}
