package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Under which user PostgreSQL runs. It refuses to run as root, so root steps down: into a user
 * namespace of its own where the system allows that, else to the user {@code nobody}, who then owns
 * the folder.
 */
record RunAs(List<String> prefix) {

  static RunAs currentUser(Path folder) {
    if (!isRoot()) {
      return new RunAs(List.of());
    }
    if (succeeds("unshare", "-U", "true")) {
      return new RunAs(List.of("unshare", "-U"));
    }
    if (succeeds("runuser", "-u", "nobody", "--", "true")
        && succeeds("chown", "-R", "nobody", folder.toString())) {
      return new RunAs(List.of("runuser", "-u", "nobody", "--"));
    }
    throw new KeeperException.Misconfigured(
        "PostgreSQL does not run as root, and neither 'unshare -U' nor 'runuser -u nobody' works here; start keeper as"
            + " another user, or set store.url to a database of your own");
  }

  List<String> command(Path program, List<String> arguments) {
    var line = new ArrayList<>(prefix);
    line.add(program.toString());
    line.addAll(arguments);
    return line;
  }

  private static boolean isRoot() {
    try {
      return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return "root".equals(System.getProperty("user.name"));
    }
  }

  private static boolean succeeds(String... line) {
    try {
      var process =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
