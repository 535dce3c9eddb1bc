package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A settlement that fails with a lost lease has changed nothing: its message comes again. A
 * settlement with an unknown outcome must report that.
 */
final class CheckRefusals implements Checker {
  private static final String LOCK_LOST = "LockLost";

  @Override
  public String promise() {
    return "a refused settlement changed nothing";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) ->
                History.byNumber(events).forEach((number, all) -> check(session, all, violations)));
    return violations;
  }

  private static void check(String session, List<Event> events, List<Violation> violations) {
    var ended = events.stream().filter(event -> event.is(Kind.ENDED, Outcome.COMPLETE)).toList();
    // Another owner may have completed the message without a confirmation.
    if (ended.size() != 1 || CheckLoss.isDone(events)) {
      return;
    }
    refusal(ended.get(0).epoch(), events)
        .ifPresent(
            refused ->
                violations.add(
                    new Violation(
                        "refusal", session + ": " + refused + ", and the message is gone")));
  }

  /** Returns the refusal of the completion that was sent under this epoch. */
  static Optional<Event> refusal(long epoch, List<Event> events) {
    boolean isSent =
        events.stream().anyMatch(e -> e.is(Kind.SETTLING, Outcome.COMPLETE) && e.epoch() == epoch);
    return events.stream()
        .filter(e -> isSent && e.is(Kind.REFUSED) && e.epoch() == epoch)
        .filter(e -> e.word().equals(LOCK_LOST))
        .findFirst();
  }
}
