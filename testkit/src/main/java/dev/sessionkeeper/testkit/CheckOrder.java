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
  private final Map<SessionId, Progress> sessions = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  private CheckOrder() {}

  public static List<Violation> of(List<History.Event> history) {
    var check = new CheckOrder();
    history.forEach(check::read);
    return check.violations;
  }

  private void read(History.Event event) {
    var progress = sessions.computeIfAbsent(event.session(), session -> new Progress());
    switch (event) {
      case History.Accepted accepted -> {
        // A message may be handled before its send has returned. For a broker that tells senders no
        // sequence number, the order of deliveries counts.
        if (accepted.sequence() != SendOutcome.UNKNOWN_SEQUENCE
            && !progress.ended.contains(accepted.sequence())) {
          progress.open.add(accepted.sequence());
        }
      }
      case History.Replayed replayed -> {
        progress.open.add(replayed.sequence());
        progress.lastEnd = Math.min(progress.lastEnd, replayed.sequence() - 1);
      }
      case History.SetAside aside -> progress.open.remove(aside.sequence());
      case History.Started started -> requireFirst(progress, started);
      case History.Ended ended -> {
        if (History.isFinal(ended.settlement())) {
          progress.open.remove(ended.sequence());
          progress.ended.add(ended.sequence());
        }
      }
      case History.Settled settled -> {
        if (History.isFinal(settled.settlement())) {
          requireAscending(progress, settled);
        }
      }
      case History.Lost lost -> {
        // Losing a lease does not violate the order.
      }
    }
  }

  private void requireFirst(Progress progress, History.Started started) {
    var earlier = progress.open.lower(started.sequence());
    if (earlier != null) {
      violations.add(
          new Violation(
              "I1",
              "session %s, epoch %d: message %d was handled while %d is open"
                  .formatted(started.session(), started.epoch(), started.sequence(), earlier)));
    }
  }

  private void requireAscending(Progress progress, History.Settled settled) {
    if (settled.sequence() <= progress.lastEnd) {
      violations.add(
          new Violation(
              "I1",
              "session %s, epoch %d: message %d was settled after %d"
                  .formatted(
                      settled.session(), settled.epoch(), settled.sequence(), progress.lastEnd)));
    }
    progress.lastEnd = settled.sequence();
  }

  /** The open messages of a session, and the last sequence number whose end was confirmed. */
  private static final class Progress {
    final TreeSet<Long> open = new TreeSet<>();
    final Set<Long> ended = new HashSet<>();
    long lastEnd = Long.MIN_VALUE;
  }
}
