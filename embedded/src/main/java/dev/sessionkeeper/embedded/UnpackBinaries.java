package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks PostgreSQL's programs from the class path into a folder that all processes of this user
 * share.
 *
 * <p>The folder is named by the archive's digest and appears by a rename, so that a half-unpacked
 * one is never used.
 */
final class UnpackBinaries {
  private UnpackBinaries() {}

  /** The folder with {@code bin}, {@code lib} and {@code share}. */
  static Path once() {
    var archive = archiveName();
    try {
      var home = sharedFolder();
      var unpacked = home.resolve(digestOf(archive));
      if (Files.isDirectory(unpacked)) {
        return unpacked;
      }
      try (var lock =
              FileChannel.open(
                  home.resolve("unpack.lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var held = lock.lock()) {
        if (held.isValid() && !Files.isDirectory(unpacked)) {
          var work = Files.createTempDirectory(home, "unpacking-");
          unpack(archive, work);
          Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));
          Files.move(work, unpacked);
        }
      }
      return unpacked;
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "PostgreSQL's programs could not be unpacked into the temporary folder ("
              + e.getMessage()
              + "); make room there, or set store.url to a database of your own",
          e);
    }
  }

  private static Path sharedFolder() throws IOException {
    var home =
        Path.of(System.getProperty("java.io.tmpdir"))
            .resolve("keeper-postgres-binaries-" + System.getProperty("user.name"));
    Files.createDirectories(home);
    return home;
  }

  private static String archiveName() {
    var os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    var arch = System.getProperty("os.arch");
    var system = os.startsWith("mac") ? "darwin" : os.startsWith("linux") ? "linux" : os;
    var processor =
        switch (arch) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64" -> "arm_64";
          default -> arch;
        };
    return "/postgres-" + system + "-" + processor + ".txz";
  }

  private static InputStream open(String archive) {
    var stream = UnpackBinaries.class.getResourceAsStream(archive);
    if (stream == null) {
      throw new KeeperException.Misconfigured(
          "There is no embedded PostgreSQL for this platform ("
              + archive
              + " is not on the class path); set store.url to a database of your own");
    }
    return new BufferedInputStream(stream, 1 << 16);
  }

  private static String digestOf(String archive) throws IOException {
    try (var in = open(archive)) {
      var digest = MessageDigest.getInstance("SHA-256");
      var buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
        digest.update(buffer, 0, n);
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  private static void unpack(String archive, Path into) throws IOException {
    try (var tar = new TarArchiveInputStream(new XZInputStream(open(archive)))) {
      for (var entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        var target = into.resolve(entry.getName()).normalize();
        if (!target.startsWith(into)) {
          throw new IOException(
              "The archive has an entry outside of its folder: " + entry.getName());
        }
        write(tar, entry, target);
      }
    }
  }

  private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path target)
      throws IOException {
    if (entry.isDirectory()) {
      Files.createDirectories(target);
      return;
    }
    Files.createDirectories(target.getParent());
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
      return;
    }
    Files.copy(tar, target);
    if ((entry.getMode() & 0100) != 0) {
      Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }
}
