package dev.sessionkeeper.examples;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/** A server in this process on a free port, with queues in memory. */
final class LocalServer implements AutoCloseable {
  private final KeeperServer server;
  private final KeeperClient client;

  private LocalServer(KeeperServer server) {
    this.server = server;
    this.client = KeeperClient.of(URI.create("http://127.0.0.1:" + server.port()));
  }

  static LocalServer start() {
    var sources =
        new ConfigSources(
            "keeper.yaml",
            "",
            Path.of("").toAbsolutePath(),
            Map.of("KEEPER_STORE_URL", "memory", "KEEPER_SERVER_PORT", "0"),
            Map.of());
    return new LocalServer(
        KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system()));
  }

  KeeperClient client() {
    return client;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
