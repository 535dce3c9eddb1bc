package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Creates histories by hand. Each line is a millisecond after the previous one. */
final class Planted {
  static final int MAX_ATTEMPTS = 5;
  static final int SLOTS = 2;
  static final String SESSION = "c-0-1";

  /** The process of most lines. */
  static final String A = "consumer-0.1";

  static final String B = "consumer-1.1";

  private static final Duration LEASE = Duration.ofSeconds(5);

  private final List<Event> events = new ArrayList<>();
  private final String session;
  private long now = Duration.ofSeconds(1).toNanos();

  private Planted(String session) {
    this.session = session;
  }

  static Planted history() {
    return new Planted(SESSION);
  }

  static Planted transactional() {
    return new Planted("t-0-2");
  }

  History end() {
    return new History(events, MAX_ATTEMPTS, SLOTS);
  }

  private Planted add(String process, Kind kind, long number, long epoch, long value, String word) {
    return addTo(session, process, kind, number, epoch, value, word);
  }

  private Planted addTo(
      String id, String process, Kind kind, long number, long epoch, long value, String word) {
    now += 1_000_000;
    events.add(new Event(now, process, kind, id, number, epoch, value, word));
    return this;
  }

  Planted pass(Duration time) {
    now += time.toNanos();
    return this;
  }

  Planted sent(long... numbers) {
    for (long number : numbers) {
      add("sender-0.1", Kind.SENDING, number, 0, 0, "");
      add("sender-0.1", Kind.SENT, number, 0, 0, "");
    }
    return this;
  }

  Planted accepting(String process, long epoch) {
    return add(process, Kind.ACCEPTING, 0, epoch, 0, "");
  }

  /** Adds an accept that returns at once, with a lease of five seconds. */
  Planted taken(String process, long epoch) {
    accepting(process, epoch);
    return took(process, epoch);
  }

  Planted took(String process, long epoch) {
    return add(process, Kind.TAKEN, 0, epoch, now + LEASE.toNanos(), "");
  }

  Planted closing(String process, long epoch) {
    return add(process, Kind.CLOSING, 0, epoch, 0, "");
  }

  Planted handed(String process, long epoch, long number, int attempt) {
    return add(process, Kind.HANDED, number, epoch, attempt, "s" + number);
  }

  Planted handedAs(String sequence, String process, long epoch, long number) {
    return add(process, Kind.HANDED, number, epoch, 1, sequence);
  }

  Planted began(String process, long epoch, long number) {
    return add(process, Kind.BEGAN, number, epoch, 1, "");
  }

  Planted ended(String process, long epoch, long number, Outcome outcome) {
    return add(process, Kind.ENDED, number, epoch, 0, outcome.name());
  }

  Planted settling(String process, long epoch, long number) {
    return add(process, Kind.SETTLING, number, epoch, 0, Outcome.COMPLETE.name());
  }

  Planted settled(String process, long epoch, long number) {
    return add(process, Kind.SETTLED, number, epoch, 0, Outcome.COMPLETE.name());
  }

  Planted refused(String process, long epoch, long number, String error) {
    return add(process, Kind.REFUSED, number, epoch, 0, error);
  }

  /** Adds a message that was delivered, handled, settled and confirmed. */
  Planted completed(String process, long epoch, long number) {
    return handed(process, epoch, number, 1)
        .began(process, epoch, number)
        .ended(process, epoch, number, Outcome.COMPLETE)
        .settling(process, epoch, number)
        .settled(process, epoch, number);
  }

  Planted acting(String act) {
    return add("operator-0.1", Kind.ACTING, 0, 0, 0, act);
  }

  Planted acted(String act) {
    return add("operator-0.1", Kind.ACTED, 0, 0, 0, act);
  }

  Planted replaying() {
    return add("operator-0.1", Kind.REPLAYING, 0, 0, 0, "");
  }

  Planted fault(Kind kind, String process) {
    return addTo("", "director", kind, 0, 0, 0, process);
  }

  Planted dead(long number, int attempts) {
    return add("director", Kind.DEAD, number, 0, attempts, "attempts");
  }

  Planted effect(long epoch, long number) {
    return add("director", Kind.EFFECT, number, epoch, 1, "");
  }

  Planted stranded(long messages) {
    return add("director", Kind.STRANDED, 0, 0, messages, "");
  }

  Planted counted(long messages) {
    return addTo("", "director", Kind.COUNTED, 0, 0, messages, "");
  }
}
