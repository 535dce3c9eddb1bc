package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Checks whether this machine has a program that a page needs. */
final class Programs {
  private Programs() {}

  /**
   * Returns whether the program is installed.
   *
   * @param wanted a name, or name, {@code >=} and the least version
   */
  static boolean isThere(String wanted) {
    var parts = wanted.split(">=", 2);
    var version = version(parts[0]);
    return version.isPresent() && (parts.length == 1 || isAtLeast(version.get(), parts[1]));
  }

  private static Optional<String> version(String program) {
    try {
      var process = new ProcessBuilder(program, "--version").redirectErrorStream(true).start();
      try (var output = process.inputReader()) {
        var text = output.readLine();
        process.waitFor(10, TimeUnit.SECONDS);
        return Optional.of(text == null ? "" : text.replaceFirst("^[^0-9]*", ""));
      }
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  static boolean isAtLeast(String version, String least) {
    var have = version.split("[^0-9]+", -1);
    var need = least.split("\\.", -1);
    for (int i = 0; i < need.length; i++) {
      int difference =
          (i < have.length && !have[i].isEmpty() ? Integer.parseInt(have[i]) : 0)
              - Integer.parseInt(need[i]);
      if (difference != 0) {
        return difference > 0;
      }
    }
    return true;
  }
}
