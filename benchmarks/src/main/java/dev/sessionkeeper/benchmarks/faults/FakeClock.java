package dev.sessionkeeper.benchmarks.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The wall clock of one process, moved from outside with libfaketime while the process runs. Its
 * monotonic clock stays right.
 */
record FakeClock(Path file) {
  private static final List<Path> LIBRARIES =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib64/faketime/libfaketime.so.1"));
  private static final String NANOS_BEFORE_1970 = "KEEPER_FAULTS_MONOTONIC_ZERO";

  static Optional<Path> library() {
    return LIBRARIES.stream().filter(Files::exists).findFirst();
  }

  /** Starts with the real time. */
  static FakeClock create(Path file) throws IOException {
    var clock = new FakeClock(file);
    clock.moveBy(Duration.ZERO);
    return clock;
  }

  void moveBy(Duration offset) throws IOException {
    var next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(next, (offset.isNegative() ? "" : "+") + offset.toSeconds() + "s\n");
    // Replaced atomically, because libfaketime reads the file at any moment.
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  Map<String, String> asEnvironment() {
    return Map.of(
        "LD_PRELOAD",
        library().orElseThrow().toString(),
        "FAKETIME_TIMESTAMP_FILE",
        file.toString(),
        "FAKETIME_CACHE_DURATION",
        "1",
        "FAKETIME_DONT_FAKE_MONOTONIC",
        "1",
        // Without it, timed waits of a condition return at once, and Java's threads spin.
        "FAKETIME_FORCE_MONOTONIC_FIX",
        "0",
        NANOS_BEFORE_1970,
        Long.toString(zero()));
  }

  /** Returns a moment of the real wall clock on the machine's monotonic clock. */
  static long monotonic(Instant moment) {
    var given = System.getenv(NANOS_BEFORE_1970);
    return nanos(moment) - (given == null ? zero() : Long.parseLong(given));
  }

  private static long zero() {
    // The monotonic clock is read first: a pause in between makes leases shorter, never longer.
    long monotonic = System.nanoTime();
    return nanos(Instant.now()) - monotonic;
  }

  private static long nanos(Instant moment) {
    return moment.getEpochSecond() * 1_000_000_000L + moment.getNano();
  }
}
