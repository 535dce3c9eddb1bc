package dev.sessionkeeper.benchmarks.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A peer on Java, including the product, in a process of its own for the whole run, because code
 * compiled for one peer does not suit another. It ends when this process does.
 */
final class JavaPeer implements Peer {
  private static final String HEAP = "-Xmx2g";

  private final String name;
  private final double goal;
  private final Databases databases;
  private @Nullable Process process;
  private @Nullable BufferedReader lines;

  JavaPeer(String name, double goal, Databases databases) {
    this.name = name;
    this.goal = goal;
    this.databases = databases;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public double goal() {
    return goal;
  }

  @Override
  public Optional<String> missing() {
    return Optional.empty();
  }

  @Override
  public boolean warmsUp() {
    return true;
  }

  @Override
  public Drained drain(Backlog backlog) throws Exception {
    return Answer.drained(
        ask("drain", backlog.messages(), backlog.keys(), (double) backlog.cap().toSeconds()), 0);
  }

  @Override
  public Delays delays(Pace pace) throws Exception {
    return Answer.delays(
        ask("delays", pace.perSecond(), pace.keys(), (double) pace.window().toSeconds()));
  }

  private double[] ask(String mode, double amount, int keys, double seconds) throws IOException {
    if (process == null || lines == null) {
      process = start();
      lines = process.inputReader(StandardCharsets.UTF_8);
    }
    var asked =
        String.format(
            Locale.ROOT, "%s %s %d %s %s%n", mode, amount, keys, seconds, databases.create());
    process.getOutputStream().write(asked.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    return Answer.await(mode, name, lines);
  }

  private Process start() throws IOException {
    var builder =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    HEAP,
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener",
                    "-cp",
                    System.getProperty("java.class.path"),
                    PeerProcess.class.getName(),
                    name))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(databases.environmentOfProcess());
    return builder.start();
  }
}
