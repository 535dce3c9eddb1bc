package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Copies the folder of a stopped database into one file, and back.
 *
 * <p>The copy holds the folder's lock, so that no server starts meanwhile. A restore unpacks beside
 * its target, checks every byte against the archive's checksums, and then moves the folder into
 * place: a damaged or truncated archive changes nothing. Restored files belong to the caller, and
 * no other user can read them.
 */
public final class BackupFolder {
  private static final String DATABASE = "postgres/";
  private static final String MARK = DATABASE + "PG_VERSION";

  private BackupFolder() {}

  /**
   * Writes an archive.
   *
   * @return the number of its files
   * @throws KeeperException.Misconfigured if there is no database, or a server uses it
   */
  public static int write(Path data, Path archive) throws IOException {
    if (!Files.exists(data.resolve(MARK))) {
      throw new KeeperException.Misconfigured(
          "There is no database in " + data + "; name its folder with --data");
    }
    try (var folder = DataFolder.open(data)) {
      folder.endWhatWasLeftRunning();
      try (var out = Files.newOutputStream(archive, java.nio.file.StandardOpenOption.CREATE_NEW);
          var zip = new ZipOutputStream(out)) {
        PrivateFiles.file(archive);
        return copy(folder.path(), zip);
      } catch (FileAlreadyExistsException e) {
        throw new KeeperException.Misconfigured(
            archive + " exists; name another file, or delete it first", e);
      }
    }
  }

  private static int copy(Path folder, ZipOutputStream zip) throws IOException {
    int files = 0;
    for (var path : contents(folder)) {
      var name = folder.relativize(path).toString();
      if (Files.isDirectory(path)) {
        zip.putNextEntry(new ZipEntry(name + "/"));
      } else {
        zip.putNextEntry(new ZipEntry(name));
        Files.copy(path, zip);
        files++;
      }
      zip.closeEntry();
    }
    return files;
  }

  /** Returns the files of the database and the passwords, without lock, log and socket. */
  private static List<Path> contents(Path folder) throws IOException {
    var all = new ArrayList<Path>();
    try (var paths = Files.walk(folder.resolve(DATABASE))) {
      paths.filter(path -> !path.endsWith("postmaster.pid")).sorted().forEach(all::add);
    }
    for (var password : List.of("password", "admin-password")) {
      all.add(folder.resolve(password));
    }
    return all;
  }

  /**
   * Restores an archive into a folder.
   *
   * @param data must not exist, or be empty
   * @return the number of files
   * @throws KeeperException.Misconfigured if the folder has a database, or the file is no backup
   */
  public static int restore(Path archive, Path data) throws IOException {
    var target = data.toAbsolutePath().normalize();
    if (Files.exists(target) && !isEmpty(target)) {
      throw new KeeperException.Misconfigured(
          target + " is not empty; move it away first, or restore to another folder with --data");
    }
    var parent = target.getParent();
    if (parent == null) {
      throw new KeeperException.Misconfigured(target + " cannot be a data folder");
    }
    Files.createDirectories(parent);
    var beside = Files.createTempDirectory(parent, ".restore-");
    try (var in = Files.newInputStream(archive)) {
      int files = unpack(in, beside);
      if (!Files.exists(beside.resolve(MARK))) {
        throw new KeeperException.Misconfigured(archive + " is no backup of a database");
      }
      Files.deleteIfExists(target);
      Files.move(beside, target);
      return files;
    } catch (ZipException | java.io.EOFException e) {
      throw new KeeperException.Misconfigured(
          archive + " is damaged (" + e.getMessage() + "); nothing was restored", e);
    } finally {
      DeleteFolder.of(beside);
    }
  }

  /** Reading an entry to its end verifies its checksum. */
  private static int unpack(InputStream in, Path into) throws IOException {
    int files = 0;
    PrivateFiles.folder(into);
    try (var zip = new ZipInputStream(in)) {
      for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        var path = into.resolve(entry.getName()).normalize();
        if (!path.startsWith(into)) {
          throw new ZipException("it names the file " + entry.getName());
        }
        if (entry.isDirectory()) {
          PrivateFiles.folder(path);
        } else {
          PrivateFiles.file(path);
          try (var out = Files.newOutputStream(path)) {
            zip.transferTo(out);
          }
          files++;
        }
      }
    }
    return files;
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (var inside = Files.list(folder)) {
      return inside.findAny().isEmpty();
    }
  }
}
