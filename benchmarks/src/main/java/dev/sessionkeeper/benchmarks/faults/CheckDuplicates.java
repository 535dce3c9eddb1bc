package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A confirmed completion is final: the message is delivered under no later epoch, nor again under
 * the same one, and no second completion of it is confirmed. No send is stored twice.
 *
 * <p>This needs no clock: if the completion of epoch 3 had taken effect before epoch 4 received the
 * session, epoch 4 would not have received the message.
 */
final class CheckDuplicates implements Checker {

  @Override
  public String promise() {
    return "no duplicate after a confirmed completion";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) -> {
              boolean isReplayed = events.stream().anyMatch(event -> event.is(Kind.REPLAYING));
              History.byNumber(events)
                  .forEach(
                      (number, all) ->
                          new Pass(session + ": message " + number, isReplayed, violations)
                              .over(all));
            });
    return violations;
  }

  /** The check of one message. */
  private record Pass(String message, boolean isReplayed, List<Violation> violations) {
    void over(List<Event> events) {
      var completed = new TreeMap<Long, Event>();
      Event handed = null;
      for (var event : events) {
        if (event.is(Kind.HANDED)) {
          again(event, completed);
          if (handed != null && !handed.word().equals(event.word()) && !isReplayed) {
            violated("was stored as " + handed.word() + " and as " + event.word());
          }
          handed = event;
        }
        if (event.is(Kind.SETTLED, Outcome.COMPLETE)) {
          if (!completed.isEmpty() && !completed.containsKey(event.epoch())) {
            violated("was completed in " + completed.firstEntry().getValue() + ", and " + event);
          }
          completed.put(event.epoch(), event);
        }
      }
      late(events, completed);
    }

    private void again(Event handed, Map<Long, Event> completed) {
      if (completed.containsKey(handed.epoch())) {
        violated("came again in the hold that had completed it: " + handed);
      }
    }

    /** Checks that no later epoch received the message, whenever the confirmation was recorded. */
    private void late(List<Event> events, TreeMap<Long, Event> completed) {
      if (completed.isEmpty()) {
        return;
      }
      var first = completed.firstEntry();
      events.stream()
          .filter(event -> event.is(Kind.HANDED) && event.epoch() > first.getKey())
          .findFirst()
          .ifPresent(
              event -> violated("came as " + event + " although confirmed: " + first.getValue()));
    }

    private void violated(String what) {
      violations.add(new Violation("duplicate", message + " " + what));
    }
  }
}
