package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;

/**
 * The folder of one database: {@code postgres/} with its files, the password, the log, and a lock
 * that one process has.
 *
 * <p>The lock is the operating system's, so it goes with the process that held it, however that
 * ended.
 */
final class DataFolder implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Path path;
  private final FileChannel lockFile;
  private final FileLock lock;
  private final String password;

  private DataFolder(Path path, FileChannel lockFile, FileLock lock, String password) {
    this.path = path;
    this.lockFile = lockFile;
    this.lock = lock;
    this.password = password;
  }

  static DataFolder open(Path data) {
    var path = data.toAbsolutePath().normalize();
    try {
      Files.createDirectories(path);
      var lockFile =
          FileChannel.open(
              path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      var lock = tryLock(lockFile);
      if (lock.isEmpty()) {
        lockFile.close();
        throw new KeeperException.Misconfigured(
            "The data folder "
                + path
                + " is in use by another process; stop that one, or choose another folder with --data");
      }
      return new DataFolder(path, lockFile, lock.get(), passwordIn(path));
    } catch (IOException e) {
      throw new KeeperException.Misconfigured(
          "The data folder " + path + " cannot be written; choose another one with --data", e);
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

  String password() {
    return password;
  }

  /**
   * Ends a database that an earlier process left running on this folder, and waits until all its
   * processes are gone: as long as one of them is there, also a dead one that nobody has reaped,
   * the next database refuses to start.
   */
  void endWhatWasLeftRunning() {
    recordedPid()
        .filter(this::isOurDatabase)
        .ifPresent(pid -> EndProcess.gracefully(pid, PATIENCE));
    var gone = ProcessesOf.folder(database()).areGoneWithin(PATIENCE);
    if (gone && recordedPid().filter(EndProcess::isUnreaped).isPresent()) {
      forgetRecordedPid();
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
   * The number in the file may belong to somebody else by now; only a process on this folder is
   * ended.
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

  private static String passwordIn(Path path) throws IOException {
    var file = path.resolve("password");
    if (!Files.exists(file)) {
      var random = new byte[24];
      new SecureRandom().nextBytes(random);
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, Base64.getUrlEncoder().withoutPadding().encodeToString(random));
    }
    return Files.readString(file).strip();
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
