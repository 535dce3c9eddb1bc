package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates files and folders that no other user can read, and refuses those that others can change.
 */
final class PrivateFiles {
  private static final Set<PosixFilePermission> FOLDER =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private PrivateFiles() {}

  /** Creates the folder, or removes other users' access to it. */
  static void folder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(folder.getParent());
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER));
    }
    if (!Files.getPosixFilePermissions(folder).equals(FOLDER)) {
      Files.setPosixFilePermissions(folder, FOLDER);
    }
  }

  /**
   * Creates the file if it is missing, and removes other users' access to it.
   *
   * @throws IOException also if it is a link, or another user created it
   */
  static void file(Path file) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
      return;
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(file.getFileName() + " is a link or a folder");
    }
    var owner = Files.getOwner(file).getName();
    if (!owner.equals(CurrentUser.name())) {
      throw new IOException(file.getFileName() + " belongs to " + owner);
    }
    if (!Files.getPosixFilePermissions(file).equals(FILE)) {
      Files.setPosixFilePermissions(file, FILE);
    }
  }

  /**
   * Requires that only this user can have written into the folder.
   *
   * @throws KeeperException.Misconfigured if another user owns it or may write to it, or if it is a
   *     link
   */
  static void requireOwn(Path folder) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw refused(folder, "is not a folder, but a link or a file");
    }
    var owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName();
    var user = CurrentUser.name();
    if (!owner.equals(user)) {
      throw refused(folder, "belongs to " + owner + " and not to " + user);
    }
    var permissions = Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
    if (permissions.contains(PosixFilePermission.GROUP_WRITE)
        || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
      throw refused(folder, "can be changed by other users");
    }
  }

  private static KeeperException.Misconfigured refused(Path folder, String why) {
    return new KeeperException.Misconfigured(
        "PostgreSQL's programs are not run from "
            + folder
            + ", because it "
            + why
            + ". Remove it, or set store.url to a database of your own");
  }
}
