package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.benchmarks.postgres.HandOverCell.Change;
import java.util.List;
import java.util.regex.Pattern;

/**
 * All measurements by name. Numbers in a name are processes, sessions, messages or seconds, as
 * {@code docs/how-to/run-benchmarks.md} explains.
 */
final class Cells {
  /** Senders of each process, for sends of twenty messages. */
  private static final int SENDERS = Integer.getInteger("senders", 4);

  private static final int BATCH = 20;
  private static final int SINGLE_SENDERS = 16;
  private static final Pattern NAME = Pattern.compile("[a-z]+(-[a-z0-9]+)*");

  private Cells() {}

  /** Returns all measurements except the long ones. */
  static List<String> usual() {
    return List.of(
        "steady-1-1000",
        "steady-1-100000",
        "single-1-1000",
        "steady-2-1000",
        "steady-2-100000",
        "steady-4-1000",
        "steady-4-100000",
        "split-2-1000",
        "split-2-100000",
        "disturbed",
        "disturbed-within",
        "latency-1",
        "latency-2",
        "join",
        "leave",
        "kill",
        "retries-1000-20000",
        "lists-100000-1000000",
        "drain-1000-100000",
        "drain-100000-100000",
        "insert",
        "bulk",
        "idle");
  }

  /**
   * Returns the measurement of this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  static Cell named(String name) {
    if (!NAME.matcher(name).matches()) {
      throw unknown(name);
    }
    var parts = name.split("-", -1);
    return switch (parts[0]) {
      case "steady" -> steady(name, Arms.KEEPER, SENDERS, BATCH);
      case "split" -> steady(name, Arms.SPLIT, SENDERS, BATCH);
      case "single" -> steady(name, Arms.KEEPER, SINGLE_SENDERS, 1);
      case "disturbed" -> new DisturbedCell(name, parts.length > 1);
      case "latency" -> new LatencyCell(name, number(name, 1));
      case "join" -> new HandOverCell(name, Change.JOIN);
      case "leave" -> new HandOverCell(name, Change.LEAVE);
      case "kill" -> new HandOverCell(name, Change.KILL);
      case "retries" -> new RetriesCell(name, number(name, 1), number(name, 2));
      case "lists" -> new ListsCell(name, number(name, 1), number(name, 2));
      case "long" -> new LongCell(name, number(name, 1), false);
      case "snapshot" -> new LongCell(name, number(name, 1), true);
      case "drain" -> new Drain(name, number(name, 1), number(name, 2));
      case "insert" -> new SingleInserts(name);
      case "bulk" -> new BulkInserts(name);
      case "idle" -> new Idle(name);
      default -> throw unknown(name);
    };
  }

  private static Cell steady(String name, Arms product, int senders, int batch) {
    int processes = number(name, 1);
    int sessions = number(name, 2);
    return new SteadyCell(
        name,
        product,
        processes,
        sessions,
        senders,
        batch,
        goal(product, processes, sessions, batch));
  }

  private static String goal(Arms product, int processes, int sessions, int batch) {
    if (processes > 1 || product == Arms.SPLIT) {
      return "≥ 2.0";
    }
    if (batch == 1) {
      return "≥ 2.6";
    }
    return sessions > 1000 ? "≥ 3.5" : "≥ 3.0";
  }

  private static int number(String name, int part) {
    var parts = name.split("-", -1);
    try {
      return Integer.parseInt(parts[part]);
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalArgumentException(
          "Cell " + name + " needs a number as part " + (part + 1), e);
    }
  }

  private static IllegalArgumentException unknown(String name) {
    return new IllegalArgumentException("Unknown cell " + name + "; known are such as " + usual());
  }
}
