package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A server in a process of its own. */
public final class ServerChild {
  private static final String SERVING = "serving ";

  private ServerChild() {}

  public static ChildProcess start(EmbeddedPostgres postgres, String database, Path log)
      throws Exception {
    return ChildProcess.start(
        "server",
        ServerChild.class,
        Map.of(
            "KEEPER_STORE_URL", postgres.jdbcUrl(database),
            "KEEPER_STORE_USER", postgres.user(),
            "KEEPER_STORE_PASSWORD", postgres.password(),
            "KEEPER_SERVER_PORT", "0"),
        log,
        System.getProperty("server.options", "-Xmx512m").split(" "));
  }

  public static String addressOf(ChildProcess server) throws InterruptedException {
    return server.await(SERVING, Duration.ofMinutes(1)).substring(SERVING.length());
  }

  public static void main(String[] arguments) throws Exception {
    var sources =
        new ConfigSources(
            "keeper.yaml", "", Path.of("").toAbsolutePath(), System.getenv(), Map.of());
    try (var server =
        KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system())) {
      System.out.println(SERVING + server.address());
      while (System.in.read() >= 0) {
        // Serves until its parent ends.
      }
    }
  }
}
