package dev.sessionkeeper.cli;

import dev.sessionkeeper.embedded.BackupFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Copies the embedded database into a file. */
@Command(
    name = "backup",
    description = {
      "Write the embedded database of a stopped server into one file.",
      "For a PostgreSQL of your own, use its tools; see docs/how-to/back-up-postgresql.md."
    })
final class Backup implements Callable<Integer> {
  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      defaultValue = "data",
      description = "The data folder. Default: ./data")
  Path data = Path.of("data");

  @Parameters(
      index = "0",
      paramLabel = "FILE",
      description = "The file to write, which must not exist yet")
  Path file = Path.of("");

  @Override
  public Integer call() throws IOException {
    int files = BackupFolder.write(data, file);
    Terminal.standard().print("Wrote " + files + " files to " + file + ".");
    return Exit.OK;
  }
}
