package dev.sessionkeeper.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A consumer in a process of its own, so that it can be killed as a crash would. */
final class ConsumerProcess {
  private final Process process;

  private ConsumerProcess(Process process) {
    this.process = process;
  }

  static ConsumerProcess start(
      List<URI> servers,
      Map<String, String> environment,
      String queue,
      String name,
      Consumer<Handled> report) {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var builder =
        new ProcessBuilder(
            List.of(
                java,
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.sessionkeeper.cli.Keeper",
                "demo",
                "--consume",
                queue,
                "--as",
                name,
                "--url",
                servers.stream().map(URI::toString).collect(Collectors.joining(","))));
    builder.environment().putAll(environment);
    try {
      var process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
      Thread.ofVirtual().start(() -> read(process, report));
      return new ConsumerProcess(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGKILL: no goodbye, its leases have to run out. */
  void kill() {
    process.destroyForcibly();
  }

  private static void read(Process process, Consumer<Handled> report) {
    try (var lines = process.inputReader()) {
      lines.lines().filter(Handled::isLine).map(Handled::ofLine).forEach(report);
    } catch (IOException | UncheckedIOException e) {
      // The process was killed in the middle of a line: that is the point of it.
      process.destroyForcibly();
    }
  }
}
