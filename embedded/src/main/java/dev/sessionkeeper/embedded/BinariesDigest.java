package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Properties;

/**
 * The SHA-256 of all unpacked programs: their names, their execute permissions, and every byte.
 *
 * <p>The expected digests are part of this release. A new PostgreSQL version needs new digests;
 * {@code UnpackBinariesTest} fails until they are added.
 */
record BinariesDigest(String platform, String hex) {
  private static final String EXPECTED = "postgres-binaries.properties";

  static BinariesDigest expected(String platform) {
    var all = new Properties();
    try (var in = BinariesDigest.class.getResourceAsStream(EXPECTED)) {
      all.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException("The list " + EXPECTED + " cannot be read", e);
    }
    var hex = all.getProperty(all.getProperty("version") + "/" + platform);
    if (hex == null) {
      throw new KeeperException.Misconfigured(
          "There is no embedded PostgreSQL "
              + all.getProperty("version")
              + " for "
              + platform
              + "; set store.url to a database of your own");
    }
    return new BinariesDigest(platform, hex);
  }

  /** Computes the digest of a folder's contents, for this platform. */
  static BinariesDigest of(Path folder) throws IOException {
    return of(folder, UnpackBinaries.platform());
  }

  static BinariesDigest of(Path folder, String platform) throws IOException {
    var digest = sha256();
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted().toList()) {
        update(digest, folder, file);
      }
    }
    return new BinariesDigest(platform, HexFormat.of().formatHex(digest.digest()));
  }

  /** Returns the name of the folder. Programs of different releases have folders of their own. */
  String folderName() {
    return "postgres-" + hex.substring(0, 16);
  }

  private static void update(MessageDigest digest, Path folder, Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    var name = folder.relativize(file).toString();
    if (Files.isSymbolicLink(file)) {
      add(digest, "link", name, Files.readSymbolicLink(file).toString());
      return;
    }
    boolean isProgram =
        Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE);
    var content = sha256().digest(Files.readAllBytes(file));
    add(digest, isProgram ? "program" : "file", name, HexFormat.of().formatHex(content));
  }

  private static void add(MessageDigest digest, String... parts) {
    for (var part : parts) {
      digest.update(part.getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
