package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.testkit.Violation;
import java.util.List;

/** Checks that, at the end, the queue counts as many messages as its sessions have. */
final class CheckCounts implements Checker {

  @Override
  public String promise() {
    return "the queue counts what it has";
  }

  @Override
  public List<Violation> check(History history) {
    long stranded =
        history.events().stream()
            .filter(event -> event.is(Kind.STRANDED))
            .mapToLong(Event::value)
            .sum();
    return history.events().stream()
        .filter(event -> event.is(Kind.COUNTED) && event.value() != stranded)
        .map(
            event ->
                new Violation(
                    "counts", event.value() + " messages counted, " + stranded + " there"))
        .toList();
  }
}
