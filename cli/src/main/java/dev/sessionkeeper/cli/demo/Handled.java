package dev.sessionkeeper.cli.demo;

import java.util.Arrays;

/**
 * One message that a consumer worked on, as it reports it.
 *
 * @param index the place of the message in its session, from 0
 */
record Handled(String consumer, String session, int index, long epoch, Step step) {
  /** How far it is with the message. */
  enum Step {
    /** It asks the server to complete it; whoever is killed now does not say how that ended. */
    COMPLETING,
    COMPLETED,
    /** The attempt failed on purpose. */
    FAILED
  }

  /** The line that a consumer process prints. */
  String toLine() {
    return String.join("\t", "handled", consumer, session, "" + index, "" + epoch, step.name());
  }

  /** Returns whether this is a whole report: a consumer may be killed in the middle of a line. */
  static boolean isLine(String line) {
    var parts = line.split("\t", -1);
    return parts.length == 6
        && parts[0].equals("handled")
        && Arrays.stream(Step.values()).anyMatch(step -> step.name().equals(parts[5]));
  }

  static Handled ofLine(String line) {
    var parts = line.split("\t", -1);
    return new Handled(
        parts[1],
        parts[2],
        Integer.parseInt(parts[3]),
        Long.parseLong(parts[4]),
        Step.valueOf(parts[5]));
  }
}
