package dev.sessionkeeper.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Asks for confirmation before an act that cannot be undone. */
final class Confirm {
  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask for confirmation. Required if standard input is not a terminal")
  boolean yes;

  /**
   * Asks on a terminal and returns whether the answer was yes.
   *
   * @param act the end of the sentence "This will …"
   * @throws IllegalArgumentException if there is no terminal and {@code --yes} is missing
   */
  boolean ask(String act) {
    if (yes) {
      return true;
    }
    if (!Boolean.getBoolean("keeper.stdin")) {
      throw new IllegalArgumentException("This will " + act + ". Add --yes to confirm it");
    }
    var terminal = Terminal.standard();
    terminal.ask("This will " + act + ". Continue? [y/N] ");
    boolean given = isYes(answer());
    if (!given) {
      terminal.note("Nothing was changed.");
    }
    return given;
  }

  private static boolean isYes(String answer) {
    var word = answer.strip().toLowerCase(Locale.ROOT);
    return word.equals("y") || word.equals("yes");
  }

  private static String answer() {
    try {
      // Not closed, because standard input belongs to the process.
      var line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      var text = line.readLine();
      return text == null ? "" : text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
