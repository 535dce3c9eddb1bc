package dev.sessionkeeper.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A consumer in a process of its own, which can be killed like a crash. */
final class ConsumerProcess {
  private final Process process;
  private final Thread reader;

  private ConsumerProcess(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
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
    return start(builder, report);
  }

  static ConsumerProcess start(ProcessBuilder builder, Consumer<Handled> report) {
    try {
      var process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
      var reader = Thread.ofVirtual().start(() -> read(process, report));
      return new ConsumerProcess(process, reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Kills the process with SIGKILL, so that its leases have to expire. {@link
   * Process#destroyForcibly()} would also close the pipe, and lose the last reports of the
   * consumer.
   */
  void kill() {
    process.toHandle().destroyForcibly();
  }

  /** Waits until all reports of the killed consumer were read. */
  void awaitLastReport() {
    try {
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void read(Process process, Consumer<Handled> report) {
    try (var lines = process.inputReader()) {
      lines.lines().filter(Handled::isLine).map(Handled::ofLine).forEach(report);
    } catch (IOException | UncheckedIOException e) {
      // Without its reports the consumer is useless.
      process.destroyForcibly();
    }
  }
}
