package dev.sessionkeeper.cli;

import dev.sessionkeeper.embedded.BackupFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Restores a backup of the embedded database into a folder. */
@Command(
    name = "restore",
    description = "Put a backup of the embedded database into an empty or new data folder.")
final class Restore implements Callable<Integer> {
  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      defaultValue = "data",
      description = "The data folder. Default: ./data")
  Path data = Path.of("data");

  @Parameters(index = "0", paramLabel = "FILE", description = "A file that keeper backup wrote")
  Path file = Path.of("");

  @Override
  public Integer call() throws IOException {
    int files = BackupFolder.restore(file, data);
    Terminal.standard().print("Restored " + files + " files to " + data + ".");
    return Exit.OK;
  }
}
