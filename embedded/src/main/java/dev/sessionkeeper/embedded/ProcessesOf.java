package dev.sessionkeeper.embedded;

import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The processes that work in a folder. The children of a killed database live on for a moment and
 * may still write; where the system does not show them, PostgreSQL's own check is all there is.
 */
record ProcessesOf(Path folder) {
  private static final Path PROC = Path.of("/proc");

  static ProcessesOf folder(Path folder) {
    return new ProcessesOf(folder);
  }

  boolean areGoneWithin(Duration patience) {
    var time = TimeSource.system();
    long begun = time.nanoTime();
    while (exist()) {
      if (time.since(begun).compareTo(patience) > 0) {
        return false;
      }
      TerminateProcess.pause();
    }
    return true;
  }

  private boolean exist() {
    if (!Files.isDirectory(PROC)) {
      return false;
    }
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (var process : processes) {
        if (worksHere(process)) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  private boolean worksHere(Path process) {
    try {
      return Files.readSymbolicLink(process.resolve("cwd")).equals(folder);
    } catch (IOException e) {
      return false;
    }
  }
}
