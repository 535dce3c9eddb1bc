package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the cache folder of PostgreSQL's programs for this user. Others can read what root
 * unpacks, because the database runs as another user; the folder contains no secret.
 */
final class BinariesHome {
  private BinariesHome() {}

  static Path ofThisUser() {
    var failures = new ArrayList<String>();
    for (var home : candidates()) {
      try {
        return created(home);
      } catch (IOException e) {
        failures.add(home + ": " + e.getMessage());
      }
    }
    throw new KeeperException.Misconfigured(
        "There is no folder for PostgreSQL's programs ("
            + String.join("; ", failures)
            + "). Set XDG_CACHE_HOME to a folder that can be written, or store.url to a database of"
            + " your own");
  }

  private static List<Path> candidates() {
    var temporary =
        Path.of(System.getProperty("java.io.tmpdir"), "sessionkeeper-" + CurrentUser.name());
    if (CurrentUser.isRoot()) {
      return List.of(Path.of("/var/cache/sessionkeeper"), temporary);
    }
    var configured = System.getenv("XDG_CACHE_HOME");
    var cache =
        configured == null || configured.isBlank()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(configured);
    return List.of(cache.toAbsolutePath().resolve("sessionkeeper"), temporary);
  }

  private static Path created(Path home) throws IOException {
    if (!Files.isDirectory(home)) {
      Files.createDirectories(home.getParent());
      var permissions =
          PosixFilePermissions.fromString(CurrentUser.isRoot() ? "rwxr-xr-x" : "rwx------");
      Files.createDirectory(home, PosixFilePermissions.asFileAttribute(permissions));
      Files.setPosixFilePermissions(home, permissions);
    }
    if (!Files.isWritable(home)) {
      throw new IOException("it cannot be written");
    }
    return home;
  }
}
