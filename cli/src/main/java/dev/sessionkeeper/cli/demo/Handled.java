package dev.sessionkeeper.cli.demo;

import java.util.Arrays;

/**
 * A consumer's report about one message.
 *
 * @param index the index of the message in its session, from 0
 */
record Handled(String consumer, String session, int index, long epoch, Step step) {
  /** The step that a report is about. */
  enum Step {
    /**
     * The consumer asks the server to complete the message; if it is killed now, the outcome is
     * unknown.
     */
    COMPLETING,
    COMPLETED,
    /** The attempt failed on purpose. */
    FAILED
  }

  /** Returns the line that a consumer process prints. */
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
