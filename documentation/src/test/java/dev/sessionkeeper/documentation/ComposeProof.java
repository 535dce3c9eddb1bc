package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** One page of all that runs wrote down in {@code docs/reference/proof}. */
final class ComposeProof {
  private static final String HEAD =
      """
      # Proof
      What was run to show that promises are kept. Each section is written by the run itself, on the commit that it
      names; [Prove it](../how-to/prove-it.md) repeats them.
      """;

  private ComposeProof() {}

  static String page(Path folder) throws IOException {
    var text = new StringBuilder(HEAD);
    try (var files = Files.list(folder)) {
      for (var file : files.filter(each -> each.toString().endsWith(".md")).sorted().toList()) {
        text.append('\n').append("#").append(Files.readString(file).strip()).append('\n');
      }
    }
    return text.toString();
  }
}
