package dev.sessionkeeper.embedded;

import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The processes that work in a folder. Children of a killed database live on for a moment and may
 * still write. On systems that do not show other processes, only PostgreSQL's own check remains.
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
