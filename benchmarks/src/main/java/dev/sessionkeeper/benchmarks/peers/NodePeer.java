package dev.sessionkeeper.benchmarks.peers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A peer on Node, in a process of its own for each turn, on a database of the same server as the
 * product. Its script creates and checks the load by the same rules and answers with a line of
 * numbers.
 *
 * @param settings the environment of the script
 */
record NodePeer(
    String name,
    double goal,
    String script,
    Map<String, String> settings,
    NodeFolder folder,
    Databases databases)
    implements Peer {

  @Override
  public Optional<String> missing() {
    return folder.missing();
  }

  @Override
  public boolean warmsUp() {
    return false;
  }

  @Override
  public Drained drain(Backlog backlog) throws Exception {
    var process =
        start("drain", backlog.messages(), backlog.keys(), (double) backlog.cap().toSeconds());
    try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
      Answer.await("filled", name, lines);
      double cpu = databases.cpuSeconds();
      var answer = Answer.await("drained", name, lines);
      cpu = databases.cpuSeconds() - cpu;
      return Answer.drained(answer, cpu);
    } finally {
      end(process);
    }
  }

  @Override
  public Delays delays(Pace pace) throws Exception {
    var process =
        start("delays", pace.perSecond(), pace.keys(), (double) pace.window().toSeconds());
    try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
      var answer = Answer.await("delays", name, lines);
      return Answer.delays(answer);
    } finally {
      end(process);
    }
  }

  private Process start(String mode, double amount, int keys, double seconds) throws IOException {
    var builder =
        new ProcessBuilder(
                List.of(
                    "node",
                    script,
                    mode,
                    Double.toString(amount),
                    Integer.toString(keys),
                    Double.toString(seconds)))
            .directory(folder.path().toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(databases.environment(databases.create()));
    builder.environment().putAll(settings);
    return builder.start();
  }

  private static void end(Process process) throws InterruptedException {
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
  }
}
