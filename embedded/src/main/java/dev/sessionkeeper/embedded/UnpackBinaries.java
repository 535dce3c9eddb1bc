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
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * Unpacks PostgreSQL's programs from the class path into a folder that all processes of this user
 * share.
 *
 * <p>The programs run with the rights of this user, so they are trusted only in a folder that no
 * other user can change, and only if their digest is known to this release. The folder is created
 * by a rename, so that a partly unpacked one is never used.
 */
final class UnpackBinaries {
  private static Optional<Path> verified = Optional.empty();

  private final Path home;
  private final BinariesDigest expected;

  UnpackBinaries(Path home, BinariesDigest expected) {
    this.home = home;
    this.expected = expected;
  }

  /**
   * Returns the folder with {@code bin}, {@code lib} and {@code share} for this platform, verified
   * once per process. Synchronised, because a file lock excludes other processes but not threads.
   */
  static Path once() {
    synchronized (UnpackBinaries.class) {
      if (verified.isEmpty()) {
        var unpack =
            new UnpackBinaries(BinariesHome.ofThisUser(), BinariesDigest.expected(platform()));
        verified = Optional.of(unpack.unpackAndVerify());
      }
      return verified.get();
    }
  }

  /**
   * Returns the verified folder, after unpacking it if it was missing or damaged.
   *
   * @throws KeeperException.Misconfigured if another user could have changed the folder, or the
   *     archive is not the one that this release knows
   */
  Path unpackAndVerify() {
    try {
      PrivateFiles.requireOwn(home);
      var unpacked = home.resolve(expected.folderName());
      try (var lock =
              FileChannel.open(
                  home.resolve("unpack.lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var held = lock.lock()) {
        if (held.isValid() && !isIntact(unpacked)) {
          replace(unpacked);
        }
      }
      return unpacked;
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "PostgreSQL's programs could not be unpacked into "
              + home
              + " ("
              + e.getMessage()
              + "); make room there, or set store.url to a database of your own",
          e);
    }
  }

  private boolean isIntact(Path unpacked) throws IOException {
    if (!Files.exists(unpacked)) {
      return false;
    }
    PrivateFiles.requireOwn(unpacked);
    return expected.equals(BinariesDigest.of(unpacked));
  }

  private void replace(Path unpacked) throws IOException {
    if (Files.exists(unpacked)) {
      DeleteFolder.of(unpacked);
    }
    var work = Files.createTempDirectory(home, "unpacking-");
    unpack(work);
    Files.setPosixFilePermissions(work, Files.getPosixFilePermissions(home));
    if (!expected.equals(BinariesDigest.of(work))) {
      DeleteFolder.of(work);
      throw new KeeperException.Misconfigured(
          "PostgreSQL's programs on the class path are not those of this release; reinstall"
              + " keeper, or set store.url to a database of your own");
    }
    Files.move(work, unpacked);
  }

  /** Returns the archives' name for this system and processor. */
  static String platform() {
    var os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    var arch = System.getProperty("os.arch");
    var system = os.startsWith("mac") ? "darwin" : os.startsWith("linux") ? "linux" : os;
    var processor =
        switch (arch) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64" -> "arm_64";
          default -> arch;
        };
    return system + "-" + processor;
  }

  private InputStream open() {
    var archive = "/postgres-" + expected.platform() + ".txz";
    var stream = UnpackBinaries.class.getResourceAsStream(archive);
    if (stream == null) {
      throw new KeeperException.Misconfigured(
          "There is no embedded PostgreSQL for this platform ("
              + archive
              + " is not on the class path); set store.url to a database of your own");
    }
    return new BufferedInputStream(stream, 1 << 16);
  }

  private void unpack(Path into) throws IOException {
    try (var tar = new TarArchiveInputStream(new XZInputStream(open()))) {
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
    boolean isProgram = (entry.getMode() & 0100) != 0;
    Files.setPosixFilePermissions(
        target, PosixFilePermissions.fromString(isProgram ? "rwxr-xr-x" : "rw-r--r--"));
  }
}
