package dev.sessionkeeper.benchmarks.faults;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What may happen to the processes of a run. */
enum Faults {
  /** A consumer is killed, and another one starts. */
  KILL,
  /** A consumer is stopped, for less or more than its lease, and goes on. */
  FREEZE,
  /** A consumer and the database hear nothing of each other; later all of it arrives. */
  ISOLATE,
  /** A consumer finishes what it has and leaves; another one joins. */
  LEAVE,
  /** A sender is killed, and goes on as another process. */
  SENDER,
  /** A consumer dies right before or after one of its statements; another one starts. */
  STATEMENT,
  /** Data between consumers, senders and the database takes up to a second. */
  SLOW,
  /** The database has no connection left for anyone. */
  CONNECTIONS,
  /** Another transaction locks tables in its own order, until deadlocks are resolved. */
  LOCKS,
  /** The wall clocks of consumers jump by up to a day, forth and back. Needs libfaketime. */
  CLOCK,
  /** The disk of the database is full for some seconds; see {@code --disk}. */
  DISK,
  /** One connection is cut, before or after the answer, or the database ends its session. */
  CUT,
  /** The database is crashed while another application commits without waiting for the disk. */
  DATABASE,
  /** Sessions are taken by name, and people look and act, in a process of its own. */
  OPERATOR;

  /** All that need nothing but this machine. */
  static Set<Faults> all() {
    return EnumSet.complementOf(EnumSet.of(CLOCK, DISK));
  }

  /** From a list such as {@code kill,freeze}. */
  static Set<Faults> parse(String names) {
    return Stream.of(names.split(",", -1))
        .map(name -> valueOf(name.strip().toUpperCase(Locale.ROOT)))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Faults.class)));
  }
}
