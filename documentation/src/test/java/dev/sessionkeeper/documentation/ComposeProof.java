package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The index of the pages that runs write into {@code docs/reference/proof}. Each of them begins
 * with a heading, a line about the run, and the result in one line.
 */
final class ComposeProof {
  private static final String HEAD =
      """
      # Proof
      Runs write these pages themselves: what was run, how often, on which commit, with which result.
      [Prove it](../how-to/prove-it.md) repeats them.

      | page | result | run |
      |---|---|---|
      """;

  private ComposeProof() {}

  static String page(Path folder) throws IOException {
    var text = new StringBuilder(HEAD);
    if (!Files.isDirectory(folder)) {
      return text.toString(); // No run has written anything yet.
    }
    try (var files = Files.list(folder)) {
      for (var file : files.filter(each -> each.toString().endsWith(".md")).sorted().toList()) {
        text.append(row(file));
      }
    }
    return text.toString();
  }

  private static String row(Path file) throws IOException {
    var lines = Files.readAllLines(file).stream().filter(line -> !line.isBlank()).toList();
    if (lines.size() < 3 || !lines.get(0).startsWith("# ")) {
      throw new IOException(file + " does not begin with a heading, a run and a result");
    }
    return "| [%s](proof/%s) | %s | %s |%n"
        .formatted(
            lines.get(0).substring(2), file.getFileName(), cell(lines.get(2)), cell(lines.get(1)));
  }

  private static String cell(String line) {
    return line.replace("|", "\\|");
  }
}
