package dev.sessionkeeper.benchmarks.proof;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** One page of {@code docs/reference/proof} about a run: its command, its commit and its result. */
public final class Proof {
  private Proof() {}

  /**
   * Writes the page.
   *
   * @param command that repeats the run
   * @param result in one line
   * @param details as Markdown
   */
  public static void write(Path file, String title, String command, String result, String details)
      throws IOException, InterruptedException {
    var text =
        """
        # %s
        Written by `%s` on %s, on commit `%s`, with Java %s on %d processors.

        %s

        %s
        """
            .formatted(
                title,
                command,
                LocalDate.now(ZoneOffset.UTC),
                commit(),
                Runtime.version().feature(),
                Runtime.getRuntime().availableProcessors(),
                result,
                details.strip());
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, text);
  }

  /** Returns the commit, marked if the working tree differs from it. */
  public static String commit() throws IOException, InterruptedException {
    var commit = git("rev-parse", "--short=12", "HEAD");
    if (commit.isEmpty()) {
      return "unknown";
    }
    boolean isClean = git("status", "--porcelain", "--untracked-files=no").isEmpty();
    return commit + (isClean ? "" : " with changes");
  }

  private static String git(String... arguments) throws IOException, InterruptedException {
    var command = new java.util.ArrayList<String>();
    command.add("git");
    command.addAll(java.util.List.of(arguments));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() == 0 ? said.strip() : "";
  }
}
