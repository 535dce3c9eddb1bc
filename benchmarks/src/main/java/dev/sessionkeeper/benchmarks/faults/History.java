package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The journals of all processes of a run, ordered by time, for the checkers. */
final class History {
  private static final Set<Kind> FAULTS =
      EnumSet.of(Kind.KILLED, Kind.FROZEN, Kind.THAWED, Kind.ISOLATED, Kind.CUT, Kind.CRASHING);

  private final List<Event> events;
  private final List<Event> faults;
  private final Map<String, List<Event>> sessions = new TreeMap<>();
  private final int maxAttempts;
  private final int slots;

  /**
   * Creates a history of these events.
   *
   * @param maxAttempts attempts after which the queue dead-letters a message
   * @param slots how many sessions a process holds at once
   */
  History(Collection<Event> unsorted, int maxAttempts, int slots) {
    this.events = unsorted.stream().sorted(Comparator.comparingLong(Event::nanos)).toList();
    this.faults = events.stream().filter(event -> FAULTS.contains(event.kind())).toList();
    for (var event : events) {
      if (!event.session().isBlank()) {
        sessions.computeIfAbsent(event.session(), id -> new ArrayList<>()).add(event);
      }
    }
    this.maxAttempts = maxAttempts;
    this.slots = slots;
  }

  /** Reads the journals of a folder. */
  static History read(Path folder, int maxAttempts, int slots) throws IOException {
    var events = new ArrayList<Event>();
    try (var files = Files.list(folder)) {
      for (var file : files.sorted().toList()) {
        var process = Journal.processOf(file);
        if (!process.isBlank()) {
          events.addAll(read(file, process));
        }
      }
    }
    return new History(events, maxAttempts, slots);
  }

  /** Reads one journal. A line that a kill cut off does not count. */
  static List<Event> read(Path file, String process) throws IOException {
    var text = Files.readString(file);
    int end = text.lastIndexOf('\n');
    return end < 0
        ? List.of()
        : text.substring(0, end).lines().map(line -> Event.parse(process, line)).toList();
  }

  List<Event> events() {
    return events;
  }

  /** Returns the events of each session, in order. */
  Map<String, List<Event>> bySession() {
    return sessions;
  }

  List<Event> faults() {
    return faults;
  }

  int maxAttempts() {
    return maxAttempts;
  }

  int slots() {
    return slots;
  }

  long count(Kind kind) {
    return events.stream().filter(event -> event.is(kind)).count();
  }

  /** Returns whether the process was frozen at some time in this interval. */
  boolean wasFrozen(String process, long from, long to) {
    long frozen = Long.MAX_VALUE;
    for (var event : faults) {
      if (event.is(Kind.FROZEN) && event.word().equals(process)) {
        frozen = event.nanos();
      }
      if (event.is(Kind.THAWED) && event.word().equals(process)) {
        if (frozen <= to && event.nanos() >= from) {
          return true;
        }
        frozen = Long.MAX_VALUE;
      }
    }
    return frozen <= to;
  }

  /** Returns whether the database crashed in this interval. */
  boolean didDatabaseCrash(long from, long to) {
    return faults.stream()
        .anyMatch(event -> event.is(Kind.CRASHING) && event.nanos() >= from && event.nanos() <= to);
  }

  /** Returns the events of a session by message number. */
  static Map<Long, List<Event>> byNumber(Collection<Event> session) {
    var messages = new TreeMap<Long, List<Event>>();
    for (var event : session) {
      if (event.number() > 0) {
        messages.computeIfAbsent(event.number(), number -> new ArrayList<>()).add(event);
      }
    }
    return messages;
  }
}
