package dev.sessionkeeper.cli;

/** Formats a number of things: {@code 1 session}, {@code 2 sessions}. */
final class Amount {
  private Amount() {}

  static String of(long count, String one) {
    return count == 1
        ? "1 " + one
        : count + " " + (one.endsWith("y") ? one.substring(0, one.length() - 1) + "ie" : one) + "s";
  }
}
