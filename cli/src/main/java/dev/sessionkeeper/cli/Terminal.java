package dev.sessionkeeper.cli;

import java.io.PrintStream;
import java.util.Map;

/**
 * The output of a command: results on standard output, everything else on standard error. Uses
 * colours and redrawn lines only on a terminal.
 */
final class Terminal {
  private static final String RED = "\u001b[31m";
  private static final String GREEN = "\u001b[32m";
  private static final String YELLOW = "\u001b[33m";
  private static final String DIM = "\u001b[2m";
  private static final String RESET = "\u001b[0m";
  private static final String UP_AND_CLEAR = "\u001b[1A\u001b[2K";

  private final PrintStream out;
  private final PrintStream err;
  private final boolean colours;
  private int drawn;

  Terminal(PrintStream out, PrintStream err, boolean colours) {
    this.out = out;
    this.err = err;
    this.colours = colours;
  }

  /**
   * Returns the terminal. The launcher script says whether it is one, because Java 21 cannot tell a
   * terminal from a pipe.
   */
  static Terminal standard() {
    boolean isTerminal = Boolean.getBoolean("keeper.terminal");
    return new Terminal(System.out, System.err, isTerminal && takesEscapes(System.getenv()));
  }

  /** Returns whether the terminal understands escapes, and the user wants them (no-color.org). */
  static boolean takesEscapes(Map<String, String> environment) {
    var kind = environment.getOrDefault("TERM", "");
    return environment.getOrDefault("NO_COLOR", "").isEmpty()
        && !kind.isEmpty()
        && !kind.equals("dumb");
  }

  boolean isInteractive() {
    return colours;
  }

  void print(String text) {
    out.println(text);
  }

  /** Prints a question; the answer follows on the same line. */
  void ask(String question) {
    err.print(question);
    err.flush();
  }

  void note(String text) {
    err.println(text);
  }

  void error(String text) {
    err.println(red("keeper: ") + text);
  }

  String red(String text) {
    return paint(RED, text);
  }

  String green(String text) {
    return paint(GREEN, text);
  }

  /** Returns a state in its colour: red if it needs an operator, yellow if it waits. */
  String state(String state) {
    return switch (state) {
      case "parked", "dead", "failed", "lost", "broken" -> red(state);
      case "paused", "waiting", "pending", "stopped" -> paint(YELLOW, state);
      case "ready", "held", "running", "completed", "acknowledged", "done" -> green(state);
      default -> state;
    };
  }

  String dim(String text) {
    return paint(DIM, text);
  }

  /** Replaces the lines drawn before; without a terminal, prints only {@code important} lines. */
  void draw(String block, boolean important) {
    if (!colours) {
      if (important) {
        err.println(block);
      }
      return;
    }
    err.print(UP_AND_CLEAR.repeat(drawn));
    err.println(block);
    drawn = (int) block.lines().count();
  }

  private String paint(String colour, String text) {
    return colours ? colour + text + RESET : text;
  }
}
