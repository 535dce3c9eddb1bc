package dev.sessionkeeper.embedded;

import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Terminates a database process: first with PostgreSQL's fast shutdown, then with SIGKILL. */
final class TerminateProcess {
  private TerminateProcess() {}

  static void gracefully(long pid, Duration patience) {
    signal("-INT", pid);
    if (!isGoneWithin(pid, patience)) {
      signal("-QUIT", pid);
      isGoneWithin(pid, Duration.ofSeconds(5));
    }
  }

  static boolean isGoneWithin(long pid, Duration patience) {
    var time = TimeSource.system();
    long begun = time.nanoTime();
    while (isRunning(pid)) {
      if (time.since(begun).compareTo(patience) > 0) {
        return false;
      }
      pause();
    }
    return true;
  }

  /**
   * Returns whether the process exists. A zombie counts, because its lock file still counts too.
   */
  static boolean isRunning(long pid) {
    return Files.exists(Path.of("/proc"))
        ? Files.exists(Path.of("/proc/" + pid)) && !isUnreaped(pid)
        : ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  /** Returns whether the process is a zombie: dead, but not yet reaped by its parent. */
  static boolean isUnreaped(long pid) {
    try {
      var status = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return status.substring(status.lastIndexOf(')') + 1).strip().startsWith("Z");
    } catch (IOException e) {
      return false;
    }
  }

  private static void signal(String signal, long pid) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(pid))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
