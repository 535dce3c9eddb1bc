package dev.sessionkeeper.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user of this process according to the operating system; the environment may name another. */
final class CurrentUser {
  private static final Path SELF = Path.of("/proc/self");

  private CurrentUser() {}

  static String name() {
    try {
      return Files.isDirectory(SELF)
          ? Files.getOwner(SELF).getName()
          : System.getProperty("user.name");
    } catch (IOException e) {
      return System.getProperty("user.name");
    }
  }

  static boolean isRoot() {
    return name().equals("root");
  }
}
