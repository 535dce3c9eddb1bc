package dev.sessionkeeper.server.cluster;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** One of several servers on one database, which can be restarted at the same address. */
final class Node implements AutoCloseable {
  private final TestDatabase database;
  private KeeperServer server;

  Node(TestDatabase database) {
    this.database = database;
    this.server = start("0");
  }

  private KeeperServer start(String port) {
    var environment = new HashMap<>(database.environment());
    environment.put("KEEPER_SERVER_PORT", port);
    var sources =
        new ConfigSources("keeper.yaml", "", Path.of("").toAbsolutePath(), environment, Map.of());
    return KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  URI address() {
    return URI.create(server.address());
  }

  /** Returns how many requests the server is serving. */
  int running() {
    return server.running();
  }

  /** A client of this server alone. */
  KeeperClient client() {
    return KeeperClient.of(address());
  }

  /** Drains the server as an operator would, and restarts it at the same address. */
  void restart() {
    int port = server.port();
    server.close();
    server = start("" + port);
  }

  @Override
  public void close() {
    server.close();
  }
}
