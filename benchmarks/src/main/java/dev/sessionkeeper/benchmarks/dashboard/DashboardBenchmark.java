package dev.sessionkeeper.benchmarks.dashboard;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;

/**
 * Measures every screen of the dashboard on a store with very many sessions and messages, explains
 * every statement of the screens, and measures the rate of consumers while someone watches them.
 *
 * <p>{@code DashboardBenchmark screens [sessions] [messages]} or {@code DashboardBenchmark gate
 * [sessions] [seconds]}. The exit code is 1 if a screen, a statement or the gate exceeds its bound.
 */
public final class DashboardBenchmark {
  static final PrintStream OUT = System.out;
  static final QueueName QUEUE = QueueName.of("orders");

  private DashboardBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    var part = arguments.length > 0 ? arguments[0] : "screens";
    int sessions = number(arguments, 1, part.equals("gate") ? 20_000 : 100_000);
    boolean isGood =
        part.equals("gate")
            ? gate(sessions, number(arguments, 2, 20))
            : screens(sessions, number(arguments, 2, 1_000_000));
    System.exit(isGood ? 0 : 1);
  }

  private static boolean gate(int sessions, int seconds) throws Exception {
    try (var postgres = EmbeddedPostgres.temporary();
        var server = serve(postgres);
        var queues = PostgresQueueProvider.create(postgres.dataSource())) {
      return new WatchedConsumers(server, queues, sessions).run(seconds);
    }
  }

  /** Measures the screens, and then explains their statements on a second server. */
  private static boolean screens(int sessions, int messages) throws Exception {
    var folder = Files.createTempDirectory("keeper-screens-");
    try (var postgres = EmbeddedPostgres.start(folder)) {
      boolean isFast;
      try (var server = serve(postgres);
          var queues = PostgresQueueProvider.create(postgres.dataSource())) {
        isFast = new LargeScreens(server, queues, postgres.dataSource()).run(sessions, messages);
      }
      var explain = new ExplainStatements(postgres, folder.resolve("postgres.log"));
      explain.turnOn();
      try (var server = serve(postgres);
          var queues = PostgresQueueProvider.create(postgres.dataSource())) {
        return explain.run(new LargeScreens(server, queues, postgres.dataSource())) && isFast;
      }
    } finally {
      delete(folder);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static int number(String[] arguments, int index, int otherwise) {
    return arguments.length > index ? Integer.parseInt(arguments[index]) : otherwise;
  }

  private static KeeperServer serve(EmbeddedPostgres postgres) {
    var sources =
        new ConfigSources(
            "keeper.yaml",
            "",
            Path.of("").toAbsolutePath(),
            Map.of(
                "KEEPER_SERVER_PORT", "0",
                "KEEPER_STORE_URL", postgres.jdbcUrl(),
                "KEEPER_STORE_USER", postgres.user(),
                "KEEPER_STORE_PASSWORD", postgres.password()),
            Map.of());
    return KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }
}
