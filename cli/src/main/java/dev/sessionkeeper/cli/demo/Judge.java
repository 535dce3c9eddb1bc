package dev.sessionkeeper.cli.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Watches what consumers report and decides whether order held.
 *
 * <p>Safe for use by many threads. A message may be worked on again, because its consumer failed or
 * died; but never after a later one of its session was completed, and never under an older epoch
 * than one already seen.
 */
final class Judge {
  private final int perSession;
  private final Map<String, Lane> lanes = new HashMap<>();
  private final List<String> violations = new ArrayList<>();
  private int completed;
  private int failed;
  private int repeated;

  Judge(Iterable<String> sessions, int perSession) {
    this.perSession = perSession;
    sessions.forEach(session -> lanes.put(session, new Lane()));
  }

  synchronized void saw(Handled handled) {
    var lane = lanes.get(handled.session());
    if (lane == null) {
      violations.add("A message of the unknown session " + handled.session());
      return;
    }
    if (handled.epoch() < lane.epoch) {
      violations.add(
          handled.session()
              + "#"
              + handled.index()
              + ": epoch "
              + handled.epoch()
              + " after "
              + lane.epoch);
    }
    lane.epoch = Math.max(lane.epoch, handled.epoch());
    if (handled.index() == lane.next + 1 && lane.lastAsked == lane.next) {
      // Whoever asked to complete the one before was killed before it could tell.
      complete(lane, lane.next);
    }
    if (handled.index() > lane.next) {
      violations.add(
          handled.session()
              + "#"
              + handled.index()
              + ": handled before #"
              + lane.next
              + " was completed");
    }
    switch (handled.step()) {
      case COMPLETING -> lane.lastAsked = handled.index();
      case COMPLETED -> complete(lane, handled.index());
      case FAILED -> failed++;
    }
  }

  private void complete(Lane lane, int index) {
    if (index < lane.next) {
      repeated++;
      return;
    }
    completed++;
    lane.next = index + 1;
  }

  /** Whether all that is missing was asked for by somebody who may have died with the answer. */
  synchronized boolean isDoneButForTheDead() {
    return lanes.values().stream()
        .allMatch(lane -> lane.next == perSession || lane.lastAsked == perSession - 1);
  }

  synchronized boolean isDone() {
    return completed >= lanes.size() * perSession;
  }

  synchronized int completed() {
    return completed;
  }

  synchronized List<String> violations() {
    return List.copyOf(violations);
  }

  /** One sentence about what happened so far. */
  synchronized String summary() {
    return completed
        + " of "
        + lanes.size() * perSession
        + " completed, "
        + failed
        + " failed attempts, "
        + repeated
        + " repeated after a death, "
        + violations.size()
        + " violations";
  }

  synchronized Demo.Result result(boolean isGood, String queue) {
    return new Demo.Result(
        isGood, queue, lanes.size() * perSession, completed, failed, repeated, violations());
  }

  /** How far each session is, as one character each: from blank to full. */
  synchronized String map() {
    var steps = " ▁▂▃▄▅▆▇█";
    var map = new StringBuilder();
    for (var lane : new TreeMap<>(lanes).values()) {
      map.append(steps.charAt(lane.next * (steps.length() - 1) / perSession));
    }
    return map.toString();
  }

  private static final class Lane {
    int next;
    int lastAsked = -1;
    long epoch;
  }
}
