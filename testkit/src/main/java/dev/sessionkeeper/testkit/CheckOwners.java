package dev.sessionkeeper.testkit;

import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * I2: a session has at most one owner; effects of two epochs never interleave; a call with an old
 * epoch changes nothing.
 *
 * <p>A handler whose lease is lost may run on for a while, because no one can stop it by force.
 * That is no violation if its owner finally learned of the loss and none of its effects was
 * confirmed.
 */
public final class CheckOwners {
  private final Map<SessionId, Long> lastEffect = new HashMap<>();
  private final Map<SessionId, Map<Long, Integer>> running = new HashMap<>();
  private final Set<Hold> lost = new HashSet<>();
  private final List<Violation> violations = new ArrayList<>();

  private CheckOwners() {}

  public static List<Violation> of(List<History.Event> history) {
    var check = new CheckOwners();
    for (var event : history) {
      if (event instanceof History.Lost told) {
        check.lost.add(new Hold(told.session(), told.epoch()));
      }
    }
    history.forEach(check::read);
    return check.violations;
  }

  private void read(History.Event event) {
    switch (event) {
      case History.Started started -> start(started);
      case History.Ended ended -> running(ended.session()).merge(ended.epoch(), -1, Integer::sum);
      case History.Settled settled -> settle(settled);
      case History.Accepted accepted -> {}
      case History.Lost told -> {}
      case History.SetAside aside -> {}
      case History.Replayed replayed -> {}
    }
  }

  private void start(History.Started started) {
    var handlers = running(started.session());
    for (var other : handlers.entrySet()) {
      boolean isLost = lost.contains(new Hold(started.session(), other.getKey()));
      if (other.getValue() > 0 && (other.getKey() == started.epoch() || !isLost)) {
        add(
            "session %s: message %d was handled under epoch %d while a handler of epoch %d ran"
                .formatted(started.session(), started.sequence(), started.epoch(), other.getKey()));
      }
    }
    handlers.merge(started.epoch(), 1, Integer::sum);
  }

  private void settle(History.Settled settled) {
    long last = lastEffect.getOrDefault(settled.session(), 0L);
    if (settled.epoch() < last) {
      add(
          "session %s: message %d was settled under epoch %d after epoch %d had an effect"
              .formatted(settled.session(), settled.sequence(), settled.epoch(), last));
    }
    lastEffect.merge(settled.session(), settled.epoch(), Math::max);
  }

  private Map<Long, Integer> running(SessionId session) {
    return running.computeIfAbsent(session, id -> new TreeMap<>());
  }

  private void add(String what) {
    violations.add(new Violation("I2", what));
  }

  private record Hold(SessionId session, long epoch) {}
}
