package dev.sessionkeeper.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

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
  private static final String NO_WRAP = "\u001b[?7l";
  private static final String WRAP = "\u001b[?7h";

  /** The least number of rows that any screen has. */
  private static final int LEAST_ROWS = 8;

  private final PrintStream out;
  private final PrintStream err;
  private final boolean colours;
  private final IntSupplier rows;
  private int drawn;

  Terminal(PrintStream out, PrintStream err, boolean colours) {
    this(out, err, colours, Terminal::rows);
  }

  Terminal(PrintStream out, PrintStream err, boolean colours, IntSupplier rows) {
    this.rows = rows;
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
    var lines = fitting(block.lines().toList(), rows);
    err.print(UP_AND_CLEAR.repeat(drawn));
    // A line that wraps would count as two.
    err.print(NO_WRAP + String.join("\n", lines) + "\n" + WRAP);
    err.flush();
    drawn = lines.size();
  }

  /** Returns the lines that fit on the screen; what has left it cannot be redrawn. */
  private static List<String> fitting(List<String> lines, IntSupplier rows) {
    if (lines.size() < LEAST_ROWS) {
      return lines;
    }
    int most = rows.getAsInt() - 1;
    if (most < 2 || lines.size() <= most) {
      return lines;
    }
    var shown = new ArrayList<>(lines.subList(0, most - 1));
    shown.add("… and " + (lines.size() - shown.size()) + " more");
    return shown;
  }

  /** Asks the terminal, because its size may have changed; 0 if it does not answer. */
  private static int rows() {
    try {
      var process = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty")).start();
      var answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return Integer.parseInt(answer.strip().split(" ", 2)[0]);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  private String paint(String colour, String text) {
    return colours ? colour + text + RESET : text;
  }
}
