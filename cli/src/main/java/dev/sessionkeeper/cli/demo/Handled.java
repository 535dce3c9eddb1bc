package dev.sessionkeeper.cli.demo;

/**
 * One message that a consumer worked on, as it reports it.
 *
 * @param index the place of the message in its session, from 0
 * @param completed whether the server took the completion; else the attempt failed on purpose
 */
record Handled(String consumer, String session, int index, long epoch, boolean completed) {

  /** The line that a consumer process prints. */
  String toLine() {
    return String.join("\t", "handled", consumer, session, "" + index, "" + epoch, "" + completed);
  }

  static boolean isLine(String line) {
    return line.startsWith("handled\t");
  }

  static Handled ofLine(String line) {
    var parts = line.split("\t", -1);
    return new Handled(
        parts[1],
        parts[2],
        Integer.parseInt(parts[3]),
        Long.parseLong(parts[4]),
        Boolean.parseBoolean(parts[5]));
  }
}
