package dev.sessionkeeper.benchmarks.faults;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The faults of a run. */
enum Faults {
  /** A consumer is killed, and another one starts. */
  KILL,
  /** A consumer is stopped for a shorter or longer time than its lease, and continued. */
  FREEZE,
  /** A consumer and the database are disconnected; later all of their traffic arrives. */
  ISOLATE,
  /** A consumer finishes its messages and leaves; another one joins. */
  LEAVE,
  /** A sender is killed, and continues as another process. */
  SENDER,
  /** A consumer dies right before or after one of its statements; another one starts. */
  STATEMENT,
  /** Data between consumers, senders and the database is delayed by up to a second. */
  SLOW,
  /** The database has no free connection. */
  CONNECTIONS,
  /** Another transaction locks tables in its own order, so that deadlocks occur. */
  LOCKS,
  /** The wall clocks of consumers jump by up to a day, forth and back. Needs libfaketime. */
  CLOCK,
  /** The disk of the database is full for some seconds; see {@code --disk}. */
  DISK,
  /** One connection is cut, before or after the answer, or the database ends it. */
  CUT,
  /** The database crashes while another application commits asynchronously. */
  DATABASE,
  /** A process of its own accepts sessions by name, inspects and acts. */
  OPERATOR;

  /** Returns all faults that need only this machine. */
  static Set<Faults> all() {
    return EnumSet.complementOf(EnumSet.of(CLOCK, DISK));
  }

  /** Parses a list such as {@code kill,freeze}. */
  static Set<Faults> parse(String names) {
    return Stream.of(names.split(",", -1))
        .map(name -> valueOf(name.strip().toUpperCase(Locale.ROOT)))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Faults.class)));
  }
}
