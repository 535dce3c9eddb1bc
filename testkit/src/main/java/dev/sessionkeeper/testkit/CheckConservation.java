package dev.sessionkeeper.testkit;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Settlement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * I3 and I8: every accepted message is completed, waiting or a dead letter, and none is two of
 * these.
 */
public final class CheckConservation {
  private CheckConservation() {}

  /**
   * Compares a history with the contents of the store at its end.
   *
   * @param waiting the messages that are still in the queue
   * @param dead the dead letters of the queue
   */
  public static List<Violation> of(
      List<History.Event> history, Set<MessageId> waiting, Set<MessageId> dead) {
    var accepted = new LinkedHashSet<MessageId>();
    var attempted = new HashSet<MessageId>();
    var confirmed = new HashMap<MessageId, Settlement>();
    for (var event : history) {
      switch (event) {
        case History.Accepted one -> accepted.add(one.id());
        case History.Ended one -> {
          if (one.settlement() instanceof Settlement.Complete) {
            attempted.add(one.id());
          }
        }
        case History.Settled one -> confirmed.put(one.id(), one.settlement());
        case History.Replayed one -> confirmed.remove(one.id());
        case History.Started one -> {}
        case History.Lost one -> {}
        case History.SetAside one -> {}
      }
    }
    return new CheckConservation().check(accepted, attempted, confirmed, waiting, dead);
  }

  private List<Violation> check(
      Set<MessageId> accepted,
      Set<MessageId> attempted,
      Map<MessageId, Settlement> confirmed,
      Set<MessageId> waiting,
      Set<MessageId> dead) {
    var violations = new ArrayList<Violation>();
    for (var id : accepted) {
      boolean completed = confirmed.get(id) instanceof Settlement.Complete;
      boolean isThere = waiting.contains(id) || dead.contains(id);
      if (completed && isThere) {
        violations.add(new Violation("I8", "message " + id + " was completed and is still there"));
      }
      // A completion whose answer was lost may have taken effect or not: both are right.
      if (!completed && !isThere && !attempted.contains(id)) {
        violations.add(new Violation("I3", "message " + id + " was accepted and is nowhere"));
      }
      if (waiting.contains(id) && dead.contains(id)) {
        violations.add(new Violation("I8", "message " + id + " is waiting and a dead letter"));
      }
    }
    for (var id : union(waiting, dead)) {
      if (!accepted.contains(id)) {
        violations.add(new Violation("I8", "message " + id + " exists but was never accepted"));
      }
    }
    return violations;
  }

  private static Set<MessageId> union(Set<MessageId> some, Set<MessageId> others) {
    var all = new LinkedHashSet<>(some);
    all.addAll(others);
    return all;
  }
}
