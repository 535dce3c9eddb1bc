package dev.sessionkeeper.server.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.Serve;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run; the long one is {@link HostileRun} against the real command. */
class HostileRunTest {
  @TempDir Path folder;

  @Test
  void aNormalLoadLosesNothingBesideHostileClients() throws Exception {
    var config = folder.resolve("keeper.yaml");
    Files.writeString(config, "server: { port: 0 }\nstore: { url: memory }\n" + HostileRun.CONFIG);
    var command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseParallelGC",
            "-Xmx512m",
            "-XX:+ExitOnOutOfMemoryError",
            "-cp",
            System.getProperty("java.class.path"),
            Serve.class.getName(),
            "--config",
            config.toString());

    var report = HostileRun.run(command, Duration.ofSeconds(10), Optional.empty());
    System.out.println(report.text());

    assertThat(report.sent()).isPositive();
    assertThat(report.events()).isPositive();
    assertThat(report.lost()).isZero();
    assertThat(report.misplaced()).as("events out of place").isZero();
    assertThat(report.successes()).as("attacks that succeeded").isZero();
    assertThat(report.buffered()).isZero();
    assertThat(report.failures().keySet())
        .allMatch(kind -> kind.equals("503 overloaded"), "only overload is refused");
    assertThat(report.heapAfter()).isLessThan(200L << 20);
  }
}
