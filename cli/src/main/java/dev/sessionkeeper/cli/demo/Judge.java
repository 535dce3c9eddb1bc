package dev.sessionkeeper.cli.demo;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Collects the reports of consumers and decides whether the order held.
 *
 * <p>Safe for use by many threads. Reports of a consumer in another process arrive late: the next
 * owner of a session may have reported before. So each session's reports are judged in the order of
 * their epochs, which is the order of ownership, and not in the order of their arrival.
 */
final class Judge {
  private final int perSession;
  private final Map<String, SessionReports> sessions = new TreeMap<>();
  private final Collection<String> strangers = new TreeSet<>();

  Judge(Iterable<String> sessions, int perSession) {
    this.perSession = perSession;
    sessions.forEach(session -> this.sessions.put(session, new SessionReports()));
  }

  synchronized void saw(Handled handled) {
    var session = sessions.get(handled.session());
    if (session == null) {
      strangers.add("A message of the unknown session " + handled.session());
    } else {
      session.add(handled);
    }
  }

  /** Returns whether the only open messages are those that a dead consumer asked to complete. */
  synchronized boolean isDoneButForTheDead() {
    return sessions.values().stream()
        .map(SessionReports::account)
        .allMatch(account -> account.next() == perSession || account.lastAsked() == perSession - 1);
  }

  synchronized boolean isDone() {
    return completed() >= sessions.size() * perSession;
  }

  synchronized int completed() {
    return sum(SessionReports.Account::completed);
  }

  synchronized List<String> violations() {
    return Stream.concat(
            strangers.stream(),
            sessions.values().stream().flatMap(session -> session.account().violations().stream()))
        .toList();
  }

  /** Returns one sentence about the run so far. */
  synchronized String summary() {
    return completed()
        + " of "
        + sessions.size() * perSession
        + " completed, "
        + sum(SessionReports.Account::failed)
        + " failed attempts, "
        + sum(SessionReports.Account::repeated)
        + " repeated after a death, "
        + violations().size()
        + " violations";
  }

  synchronized Demo.Result result(boolean isGood, String queue) {
    return new Demo.Result(
        isGood,
        queue,
        sessions.size() * perSession,
        completed(),
        sum(SessionReports.Account::failed),
        sum(SessionReports.Account::repeated),
        violations());
  }

  /** Returns the progress of each session as one character, from blank to full. */
  synchronized String map() {
    var steps = " ▁▂▃▄▅▆▇█";
    var map = new StringBuilder();
    for (var session : sessions.values()) {
      map.append(steps.charAt(session.account().next() * (steps.length() - 1) / perSession));
    }
    return map.toString();
  }

  private int sum(ToIntFunction<SessionReports.Account> number) {
    return sessions.values().stream().map(SessionReports::account).mapToInt(number).sum();
  }
}
