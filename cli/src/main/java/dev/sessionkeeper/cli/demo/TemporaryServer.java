package dev.sessionkeeper.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.UUID;

/**
 * A server for the demo with one bot, on a free port, whose data is deleted at the end. It logs
 * into a file, because log lines would disturb the display.
 */
public final class TemporaryServer implements AutoCloseable {
  private final Path data;
  private final KeeperServer server;
  private final String secret;
  private final int endpoint;
  private final PrintStream errors;

  private TemporaryServer(
      Path data, KeeperServer server, String secret, int endpoint, PrintStream errors) {
    this.data = data;
    this.errors = errors;
    this.server = server;
    this.secret = secret;
    this.endpoint = endpoint;
  }

  public static TemporaryServer start() throws IOException {
    var data = Files.createTempDirectory("keeper-demo-");
    var secret = UUID.randomUUID().toString();
    int endpoint = freePort();
    var sources =
        new ConfigSources(
            "the demo's configuration",
            configuration(endpoint),
            data,
            Map.of("DEMO_SECRET", secret),
            Map.of("server.port", "0", "store.data", data.toString()));
    var errors = System.err;
    System.setErr(new PrintStream(data.resolve("server.log").toFile(), UTF_8));
    try {
      var server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
      return new TemporaryServer(data, server, secret, endpoint, errors);
    } catch (RuntimeException e) {
      System.setErr(errors);
      throw e;
    }
  }

  private static String configuration(int endpoint) {
    return """
        github: { secrets: ["env:DEMO_SECRET"] }
        bots:
          - name: demo
            events: ["*"]
            ordering_scope: entity
            max_delivery_count: 50
            session_idle_timeout: 1s
            retry: { first: 300ms, max: 2s }
            deliver: { url: "http://127.0.0.1:%d/hook", allow_private_targets: true }
        """
        .formatted(endpoint);
  }

  private static int freePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  public URI address() {
    return URI.create(server.address());
  }

  public String secret() {
    return secret;
  }

  /** Returns the port of the endpoint of its bot. */
  public int endpointPort() {
    return endpoint;
  }

  @Override
  public void close() throws IOException {
    server.close();
    var log = System.err;
    System.setErr(errors);
    log.close();
    try (var files = Files.walk(data)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
