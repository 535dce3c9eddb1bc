package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Consumers whose clocks are a day ahead of the producer's and the database's (S-11). */
class ClockSkewTest {
  private static final List<Path> LIBRARIES =
      List.of(
          Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"),
          Path.of("/usr/lib64/faketime/libfaketime.so.1"));

  @Test
  void consumersADayAheadChangeNothing() throws Exception {
    var library = LIBRARIES.stream().filter(Files::exists).findFirst();
    assumeTrue(library.isPresent(), "libfaketime is not installed");
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      var duration = Duration.ofSeconds(3);
      var environment =
          Map.of(
              "LD_PRELOAD",
              library.get().toString(),
              "FAKETIME",
              "+1d",
              "FAKETIME_DONT_FAKE_MONOTONIC",
              "1",
              // Without it, timed waits of a condition return at once, and Java's threads spin.
              "FAKETIME_FORCE_MONOTONIC_FIX",
              "0");
      var report = new KillRun(postgres, environment).run(duration, 2, duration, false);

      assertThat(report.problems()).isEmpty();
      assertThat(report.effects()).isGreaterThan(100);
    }
  }
}
