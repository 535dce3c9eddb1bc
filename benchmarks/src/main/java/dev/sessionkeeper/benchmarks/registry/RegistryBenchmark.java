package dev.sessionkeeper.benchmarks.registry;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;

/**
 * {@code PUT /sessions} over HTTP, compared with the same statements through pgbench, in turn, on
 * one durable PostgreSQL. Arguments: seconds per contestant (5), repetitions (5), clients (16), a
 * word of the cells to run (all).
 */
public final class RegistryBenchmark {
  private static final int USERS = 100_000;

  private final HttpLoad http;
  private final Pgbench pgbench;
  private final int repetitions;
  private final String cells;

  private RegistryBenchmark(HttpLoad http, Pgbench pgbench, int repetitions, String cells) {
    this.http = http;
    this.pgbench = pgbench;
    this.repetitions = repetitions;
    this.cells = cells;
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    int repetitions = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int clients = args.length > 2 ? Integer.parseInt(args[2]) : 16;
    var time = Duration.ofSeconds(seconds);
    try (var postgres = EmbeddedPostgres.temporary();
        var server = server(postgres)) {
      prepare(postgres);
      var benchmark =
          new RegistryBenchmark(
              new HttpLoad(server.port(), clients, time),
              new Pgbench(postgres, clients, time),
              repetitions,
              args.length > 3 ? args[3] : "");
      System.out.printf(
          Locale.ROOT,
          "PUT /sessions, %d clients, %d x %d s, median [range]%n",
          clients,
          repetitions,
          seconds);
      benchmark.compare(
          "existing (100k users)",
          n -> body(1 + ThreadLocalRandom.current().nextInt(USERS), 1),
          EXISTING);
      benchmark.compare(
          "created (always new)",
          n -> body(ThreadLocalRandom.current().nextLong(1L << 40, 1L << 60), 1),
          CREATED);
      benchmark.compare(
          "hot key (one user)", n -> body(7, 1), EXISTING.replace("random(1, 100000)", "7"));
      benchmark.compare(
          "mixed (90 % existing)",
          n ->
              ThreadLocalRandom.current().nextInt(10) == 0
                  ? body(ThreadLocalRandom.current().nextLong(1L << 40, 1L << 60), 1)
                  : body(1 + ThreadLocalRandom.current().nextInt(USERS), 1),
          MIXED);
    }
  }

  private static final String EXISTING =
      """
      \\set u random(1, 100000)
      SELECT session_id FROM keeper.registered_session
       WHERE user_id = lpad(to_hex(:u::bigint), 32, '0')::uuid AND capacity_id = '00000000-0000-0000-0000-000000000001'
         AND ended_at IS NULL;
      """;

  private static final String CREATED =
      """
      SELECT session_id FROM bench.plain_session WHERE user_id = '00000000-0000-0000-0000-000000000000' AND capacity_id = '00000000-0000-0000-0000-000000000001' AND ended_at IS NULL;
      INSERT INTO bench.plain_session (user_id, capacity_id) VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000001') ON CONFLICT DO NOTHING RETURNING session_id;
      """;

  private static final String MIXED =
      """
      \\set u random(1, 100000)
      \\set dice random(1, 10)
      \\if :dice = 1
      INSERT INTO bench.plain_session (user_id, capacity_id) VALUES (gen_random_uuid(), '00000000-0000-0000-0000-000000000001') ON CONFLICT DO NOTHING RETURNING session_id;
      \\else
      SELECT session_id FROM keeper.registered_session
       WHERE user_id = lpad(to_hex(:u::bigint), 32, '0')::uuid AND capacity_id = '00000000-0000-0000-0000-000000000001'
         AND ended_at IS NULL;
      \\endif
      """;

  private void compare(String name, IntFunction<String> bodies, String script) throws Exception {
    if (!name.contains(cells)) {
      return;
    }
    var ours = new ArrayList<Double>();
    var plain = new ArrayList<Double>();
    http.put("/sessions", bodies); // Warms up twice, because compiling takes long on two cores.
    HttpLoad.Result last = http.put("/sessions", bodies);
    for (int i = 0; i < repetitions; i++) {
      plain.add(pgbench.run(script));
      last = http.put("/sessions", bodies);
      ours.add(last.perSecond());
    }
    Collections.sort(ours);
    Collections.sort(plain);
    System.out.printf(
        Locale.ROOT,
        "%-24s HTTP %s/s (p50 %.1f ms, p99 %.1f ms, %s)  pgbench %s/s  ratio %.2f%n",
        name,
        shown(ours),
        last.p50Millis(),
        last.p99Millis(),
        last.statuses(),
        shown(plain),
        ours.get(repetitions / 2) / plain.get(repetitions / 2));
  }

  private static String shown(List<Double> sorted) {
    return String.format(
        Locale.ROOT,
        "%,.0f [%,.0f..%,.0f]",
        sorted.get(sorted.size() / 2),
        sorted.getFirst(),
        sorted.getLast());
  }

  private static String body(long user, int kind) {
    return "{\"userObjectId\":\""
        + new UUID(0, user)
        + "\",\"tenantObjectId\":\""
        + new UUID(0, 1 + user % 100)
        + "\",\"capacityId\":\"00000000-0000-0000-0000-000000000001\",\"sessionKind\":"
        + kind
        + "}";
  }

  private static KeeperServer server(EmbeddedPostgres postgres) {
    var sources =
        new ConfigSources(
            "benchmark",
            "",
            Path.of("").toAbsolutePath(),
            Map.of(
                "KEEPER_SERVER_PORT", "0",
                // Metering has a benchmark of its own.
                "KEEPER_USAGE_INTERVAL", "1h",
                "KEEPER_STORE_URL", postgres.jdbcUrl(),
                "KEEPER_STORE_USER", postgres.user(),
                "KEEPER_STORE_PASSWORD", postgres.password()),
            Map.of());
    return KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  /**
   * Creates the existing users, and a bare table for the comparison without events, metering and
   * lists.
   */
  private static void prepare(EmbeddedPostgres postgres) throws Exception {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE SCHEMA bench;
          CREATE TABLE bench.plain_session (session_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), user_id uuid NOT NULL,
            capacity_id uuid NOT NULL, started_at timestamptz NOT NULL DEFAULT clock_timestamp(), ended_at timestamptz);
          CREATE UNIQUE INDEX ON bench.plain_session (user_id, capacity_id) WHERE ended_at IS NULL;
          """);
      statement.execute(
          """
          INSERT INTO keeper.registered_session (session_id, tenant_id, user_id, capacity_id, kind, factor_milli,
                 period_micros, started_at, expires_at, metered_through)
          SELECT gen_random_uuid(), lpad(to_hex(1 + u %% 100), 32, '0')::uuid, lpad(to_hex(u), 32, '0')::uuid,
                 '00000000-0000-0000-0000-000000000001', 1, 1000, 2592000000000, n, n + interval '30 days', n
            FROM generate_series(1, %d) u, (SELECT clock_timestamp() AS n) t
          """
              .formatted(USERS));
      statement.execute("VACUUM ANALYZE keeper.registered_session");
    }
  }
}
