package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A transactional handler has its effect once for each message, in order, under growing epochs; and
 * every acknowledged message has it, unless it is a dead letter or was handled without a
 * transaction.
 */
final class CheckEffects implements Checker {
  /** The prefix of sessions whose handlers write in the transaction of their settlement. */
  static final String TRANSACTIONAL = "t-";

  @Override
  public String promise() {
    return "transactional effects happen once, in order";
  }

  @Override
  public List<Violation> check(History history) {
    var violations = new ArrayList<Violation>();
    history
        .bySession()
        .forEach(
            (session, events) -> {
              if (session.startsWith(TRANSACTIONAL)) {
                check(events)
                    .forEach(
                        what -> violations.add(new Violation("effect", session + ": " + what)));
              }
            });
    return violations;
  }

  private static List<String> check(List<Event> events) {
    var problems = new ArrayList<String>();
    var effects = new HashMap<Long, Event>();
    var elsewhere = elsewhere(events);
    boolean isReplayed = events.stream().anyMatch(event -> event.is(Kind.REPLAYING));
    long number = 0;
    long epoch = 0;
    for (var effect : events.stream().filter(event -> event.is(Kind.EFFECT)).toList()) {
      if (effects.put(effect.number(), effect) != null) {
        problems.add("message " + effect.number() + " has two effects");
      } else if (effect.number() < number && !isReplayed) {
        problems.add("the effect of message " + effect.number() + " follows that of " + number);
      }
      if (effect.epoch() < epoch) {
        problems.add("an effect of epoch " + effect.epoch() + " follows one of " + epoch);
      }
      number = effect.number();
      epoch = effect.epoch();
    }
    for (var event : events) {
      var effect = effects.get(event.number());
      if (event.is(Kind.HANDED) && effect != null && event.epoch() > effect.epoch()) {
        problems.add("message " + event.number() + " came again after " + effect + ": " + event);
      }
    }
    events.stream()
        .filter(event -> event.is(Kind.SENT))
        .filter(event -> !effects.containsKey(event.number()))
        .filter(event -> !elsewhere.contains(event.number()))
        .forEach(event -> problems.add("message " + event.number() + " has no effect"));
    return problems;
  }

  /** Returns messages that are dead letters, or were completed without a transaction. */
  private static Set<Long> elsewhere(List<Event> events) {
    var numbers = new HashSet<Long>();
    for (var event : events) {
      if (event.is(Kind.DEAD) || (event.is(Kind.ENDED) && !isTransactional(event.process()))) {
        numbers.add(event.number());
      }
    }
    return numbers;
  }

  /** Returns whether the process's handlers write in the transaction of their settlement. */
  static boolean isTransactional(String process) {
    return process.startsWith("consumer") && !process.contains(HolderProcess.ROLE);
  }
}
