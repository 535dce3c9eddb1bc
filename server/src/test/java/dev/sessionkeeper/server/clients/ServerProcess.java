package dev.sessionkeeper.server.clients;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server in a process of its own, at a fixed address, that can be killed and restarted. */
final class ServerProcess implements AutoCloseable {
  private final Map<String, String> environment;
  private final int port;
  private final Path output;
  private Process process;

  ServerProcess(Map<String, String> store) throws IOException {
    this.port = freePort();
    this.output = Files.createTempFile("server", ".log");
    this.environment = new HashMap<>(store);
    this.environment.put("KEEPER_SERVER_PORT", "" + port);
    this.process = start();
  }

  /**
   * Starts a server and waits until it serves, because the first one of a database creates the
   * tables.
   */
  static ServerProcess serving(Map<String, String> store) throws Exception {
    var server = new ServerProcess(store);
    server.awaitServing();
    return server;
  }

  String address() {
    return "http://127.0.0.1:" + port;
  }

  /** Returns when the server serves; if it has ended instead, fails with its output. */
  void awaitServing() throws Exception {
    var http = java.net.http.HttpClient.newHttpClient();
    var question =
        java.net.http.HttpRequest.newBuilder(java.net.URI.create(address() + "/health/live"))
            .build();
    while (true) {
      try {
        http.send(question, java.net.http.HttpResponse.BodyHandlers.discarding());
        return;
      } catch (IOException e) {
        if (!process.isAlive()) {
          throw new AssertionError("The server did not start:\n" + Files.readString(output), e);
        }
        process.waitFor(50, TimeUnit.MILLISECONDS);
      }
    }
  }

  /** Kills the server with SIGKILL and restarts it. */
  void killAndRestart() throws Exception {
    process.destroyForcibly().waitFor();
    process = start();
  }

  private Process start() throws IOException {
    return Tools.start(
        Path.of("").toAbsolutePath(),
        environment,
        Optional.of(output),
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            ServerProcess.class.getName()));
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    output.toFile().delete();
  }

  public static void main(String[] arguments) throws Exception {
    var sources =
        new ConfigSources(
            "keeper.yaml", "", Path.of("").toAbsolutePath(), System.getenv(), Map.of());
    try (var server =
        KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system())) {
      System.out.println("serving at " + server.address());
      new CountDownLatch(1).await();
    }
  }
}
