package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * Every message whose send returned was completed by a handler or is a dead letter; and no session
 * keeps messages that no consumer gets.
 *
 * <p>A completion without a confirmation may have taken effect. One that was refused did not,
 * unless the database crashed meanwhile: {@link CheckRefusals} judges that.
 */
final class CheckLoss implements Checker {
  /** A crash is recorded before its signal is sent, which takes some time. */
  private static final long SPAWN_NANOS = 1_000_000_000;

  @Override
  public String promise() {
    return "no acknowledged send is lost";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) -> {
              events.stream()
                  .filter(event -> event.is(Kind.STRANDED))
                  .map(event -> session + ": " + event.value() + " messages stay")
                  .forEach(what -> violations.add(new Violation("loss", what)));
              History.byNumber(events)
                  .forEach(
                      (number, all) -> {
                        if (isLost(history, all)) {
                          var what = "message " + number + " was acknowledged and is gone; ";
                          violations.add(new Violation("loss", session + ": " + what + all));
                        }
                      });
            });
    return violations;
  }

  private static boolean isLost(History history, List<Event> events) {
    return events.stream().anyMatch(event -> event.is(Kind.SENT))
        && !isDone(events)
        && events.stream()
            .noneMatch(
                event ->
                    event.is(Kind.ENDED, Outcome.COMPLETE)
                        && mayHaveTakenEffect(history, event, events));
  }

  /** Returns whether the message was certainly completed or set aside. */
  static boolean isDone(List<Event> events) {
    return events.stream()
        .anyMatch(
            event ->
                event.is(Kind.DEAD)
                    || event.is(Kind.EFFECT)
                    || event.is(Kind.SETTLED, Outcome.COMPLETE));
  }

  private static boolean mayHaveTakenEffect(History history, Event ended, List<Event> events) {
    return CheckRefusals.refusal(ended.epoch(), events)
        .map(refused -> history.didDatabaseCrash(ended.nanos() - SPAWN_NANOS, refused.nanos()))
        .orElse(true);
  }
}
