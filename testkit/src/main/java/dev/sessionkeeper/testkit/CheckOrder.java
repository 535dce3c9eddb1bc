package dev.sessionkeeper.testkit;

import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * I1: per session, messages are handled in the accepted order, without overtaking, even across
 * owners, retries and restarts.
 *
 * <p>A message may be handled only when every earlier one of its session has ended or was set
 * aside; and confirmed ends come in the order of the sequence numbers. Handling a message again
 * after its owner lost the lease or the answer breaks nothing.
 */
public final class CheckOrder {
  private final Map<SessionId, Lane> lanes = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  private CheckOrder() {}

  public static List<Violation> of(List<History.Event> history) {
    var check = new CheckOrder();
    history.forEach(check::read);
    return check.violations;
  }

  private void read(History.Event event) {
    var lane = lanes.computeIfAbsent(event.session(), session -> new Lane());
    switch (event) {
      case History.Accepted accepted -> {
        // A message may be handled before its send has returned. For a broker that tells senders no
        // sequence number, the order of deliveries counts.
        if (accepted.sequence() != SendOutcome.UNKNOWN_SEQUENCE
            && !lane.ended.contains(accepted.sequence())) {
          lane.open.add(accepted.sequence());
        }
      }
      case History.Replayed replayed -> {
        lane.open.add(replayed.sequence());
        lane.lastEnd = Math.min(lane.lastEnd, replayed.sequence() - 1);
      }
      case History.SetAside aside -> lane.open.remove(aside.sequence());
      case History.Started started -> requireFirst(lane, started);
      case History.Ended ended -> {
        if (History.isFinal(ended.settlement())) {
          lane.open.remove(ended.sequence());
          lane.ended.add(ended.sequence());
        }
      }
      case History.Settled settled -> {
        if (History.isFinal(settled.settlement())) {
          requireAscending(lane, settled);
        }
      }
      case History.Lost lost -> {
        // Losing a lease does not violate the order.
      }
    }
  }

  private void requireFirst(Lane lane, History.Started started) {
    var earlier = lane.open.lower(started.sequence());
    if (earlier != null) {
      violations.add(
          new Violation(
              "I1",
              "session %s, epoch %d: message %d was handled while %d is open"
                  .formatted(started.session(), started.epoch(), started.sequence(), earlier)));
    }
  }

  private void requireAscending(Lane lane, History.Settled settled) {
    if (settled.sequence() <= lane.lastEnd) {
      violations.add(
          new Violation(
              "I1",
              "session %s, epoch %d: message %d was settled after %d"
                  .formatted(
                      settled.session(), settled.epoch(), settled.sequence(), lane.lastEnd)));
    }
    lane.lastEnd = settled.sequence();
  }

  /** The open messages of a session, and the last sequence number whose end was confirmed. */
  private static final class Lane {
    final TreeSet<Long> open = new TreeSet<>();
    final Set<Long> ended = new HashSet<>();
    long lastEnd = Long.MIN_VALUE;
  }
}
