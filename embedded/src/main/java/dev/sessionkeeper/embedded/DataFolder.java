package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;

/**
 * The folder of one database: {@code postgres/} with its files, {@code run/} with its socket, the
 * passwords, the log, and a lock that one process holds. Other users can neither read nor write it.
 *
 * <p>The operating system releases the lock when its process ends, however that happens.
 */
final class DataFolder implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Path path;
  private final FileChannel lockFile;
  private final FileLock lock;
  private final String password;
  private final String adminPassword;

  private DataFolder(
      Path path, FileChannel lockFile, FileLock lock, String password, String adminPassword) {
    this.path = path;
    this.lockFile = lockFile;
    this.lock = lock;
    this.password = password;
    this.adminPassword = adminPassword;
  }

  static DataFolder open(Path data) {
    var path = data.toAbsolutePath().normalize();
    try {
      PrivateFiles.folder(path);
      PrivateFiles.file(path.resolve("lock"));
      PrivateFiles.file(path.resolve("postgres.log"));
      var lockFile = FileChannel.open(path.resolve("lock"), StandardOpenOption.WRITE);
      var lock = tryLock(lockFile);
      if (lock.isEmpty()) {
        lockFile.close();
        throw new KeeperException.Misconfigured(
            "The data folder "
                + path
                + " is in use by another process; stop that one, or choose another folder with --data");
      }
      return new DataFolder(
          path,
          lockFile,
          lock.get(),
          passwordIn(path.resolve("password")),
          passwordIn(path.resolve("admin-password")));
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "The data folder "
              + path
              + " cannot be written ("
              + reason(e)
              + "); choose another one with --data",
          e);
    }
  }

  Path path() {
    return path;
  }

  Path database() {
    return path.resolve("postgres");
  }

  Path log() {
    return path.resolve("postgres.log");
  }

  /**
   * Returns the folder of the socket: inside this folder, unless that would exceed the length limit
   * of socket paths.
   */
  Path sockets() throws IOException {
    var inside = path.resolve("run");
    if (Endpoint.Unix.socketIn(inside).toString().length() <= Endpoint.Unix.LONGEST_PATH) {
      PrivateFiles.folder(inside);
      return inside;
    }
    return Files.createTempDirectory("keeper-");
  }

  /** Returns the password of the role that the server uses. */
  String password() {
    return password;
  }

  /** Returns the password of the superuser, who only creates that role and its databases. */
  String adminPassword() {
    return adminPassword;
  }

  /**
   * Ends a database that an earlier process left running on this folder, and waits until all of its
   * processes are gone: while one exists, even a zombie, the next database refuses to start.
   */
  void endWhatWasLeftRunning() {
    recordedPid()
        .filter(this::isOurDatabase)
        .ifPresent(pid -> TerminateProcess.gracefully(pid, PATIENCE));
    var gone = ProcessesOf.folder(database()).areGoneWithin(PATIENCE);
    if (gone) {
      if (recordedPid().filter(TerminateProcess::isUnreaped).isPresent()) {
        forgetRecordedPid();
      }
      forgetSocket();
    }
  }

  /**
   * Removes the lock file of the socket, which names a process as well: PostgreSQL takes a zombie
   * of that id for alive.
   */
  private void forgetSocket() {
    try {
      if (Files.isDirectory(path.resolve("run"))) {
        DeleteFolder.contentOf(path.resolve("run"));
      }
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "The socket of an earlier process in " + path + " cannot be removed", e);
    }
  }

  private Optional<Long> recordedPid() {
    try {
      var lines = Files.readAllLines(pidFile());
      return Optional.of(Long.parseLong(lines.get(0).strip()));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns whether this process is the folder's database. The pid in the file may belong to
   * another process by now.
   */
  private boolean isOurDatabase(long pid) {
    return ProcessHandle.of(pid)
        .flatMap(process -> process.info().commandLine())
        .filter(line -> line.contains(database().toString()))
        .isPresent();
  }

  private void forgetRecordedPid() {
    try {
      Files.deleteIfExists(pidFile());
    } catch (IOException e) {
      throw new KeeperException.Misconfigured("The file " + pidFile() + " cannot be removed", e);
    }
  }

  private Path pidFile() {
    return database().resolve("postmaster.pid");
  }

  private static Optional<FileLock> tryLock(FileChannel file) throws IOException {
    try {
      return Optional.ofNullable(file.tryLock());
    } catch (OverlappingFileLockException e) {
      return Optional.empty();
    }
  }

  private static String passwordIn(Path file) throws IOException {
    PrivateFiles.file(file);
    var written = Files.readString(file).strip();
    if (!written.isEmpty()) {
      return written;
    }
    var random = new byte[24];
    new SecureRandom().nextBytes(random);
    var password = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    Files.writeString(file, password);
    return password;
  }

  /** Returns the exception's own message; some only name the file. */
  private static String reason(IOException e) {
    return e instanceof AccessDeniedException
        ? "access to " + e.getMessage() + " is denied"
        : String.valueOf(e.getMessage());
  }

  @Override
  public void close() {
    try (lockFile) {
      lock.release();
    } catch (IOException e) {
      throw new KeeperException.Misconfigured("The data folder " + path + " cannot be unlocked", e);
    }
  }
}
