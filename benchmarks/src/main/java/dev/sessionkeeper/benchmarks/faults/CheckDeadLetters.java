package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * Every dead letter has a cause in the journals: a handler chose it, an operator did, or all
 * attempts were used. No message is both completed and a dead letter, and none is dead-lettered
 * twice.
 */
final class CheckDeadLetters implements Checker {

  @Override
  public String promise() {
    return "dead letters are explained";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) -> {
              boolean didPerson =
                  events.stream()
                      .anyMatch(e -> e.is(Kind.ACTING) && e.word().startsWith("DEAD_LETTER"));
              History.byNumber(events)
                  .forEach(
                      (number, all) ->
                          check(history, didPerson, all).stream()
                              .map(what -> session + ": message " + number + " " + what)
                              .forEach(what -> violations.add(new Violation("dead letter", what))));
            });
    return violations;
  }

  private static List<String> check(History history, boolean didPerson, List<Event> events) {
    var problems = new ArrayList<String>();
    var dead = events.stream().filter(event -> event.is(Kind.DEAD)).toList();
    if (dead.isEmpty()) {
      return problems;
    }
    boolean didHandler = events.stream().anyMatch(e -> e.is(Kind.ENDED, Outcome.DEAD_LETTER));
    boolean wasTried =
        events.stream().anyMatch(e -> e.is(Kind.HANDED) && e.value() >= history.maxAttempts());
    if (!didHandler && !didPerson && !wasTried) {
      problems.add("is a dead letter for no visible reason: " + dead.get(0));
    }
    if (dead.size() > 1) {
      problems.add("is a dead letter " + dead.size() + " times");
    }
    events.stream()
        .filter(event -> event.is(Kind.SETTLED, Outcome.COMPLETE))
        .findFirst()
        .ifPresent(event -> problems.add("is a dead letter and completed: " + event));
    return problems;
  }
}
