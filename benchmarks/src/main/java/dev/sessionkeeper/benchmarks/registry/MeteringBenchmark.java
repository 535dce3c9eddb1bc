package dev.sessionkeeper.benchmarks.registry;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegistryOptions;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.registry.SessionRequest;
import dev.sessionkeeper.registry.receiver.UsageReceiver;
import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.registry.usage.UsageOptions;
import dev.sessionkeeper.registry.usage.UsageProof;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One metering tick over many active sessions during PUTs, compared with one set-based INSERT of
 * the same rows; then the delivery of the frozen batches to a receiver on loopback. Arguments:
 * sessions (100000), tenants (100), ticks (3).
 */
public final class MeteringBenchmark {
  private MeteringBenchmark() {}

  public static void main(String[] args) throws Exception {
    int sessions = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
    int tenants = args.length > 1 ? Integer.parseInt(args[1]) : 100;
    int ticks = args.length > 2 ? Integer.parseInt(args[2]) : 3;
    var signature = WebhookSignature.of("whsec_YmVuY2htYXJrLXNlY3JldC1vZi0zMi1ieXRlcyEh");
    try (var postgres = EmbeddedPostgres.temporary();
        var pool = pool(postgres);
        var receiver = UsageReceiver.start(0, Optional.of(signature))) {
      SessionRegistry.migrate(pool);
      prepare(pool, sessions, tenants);
      var usage =
          Usage.create(
              pool,
              UsageOptions.defaults()
                  .endpoint(receiver.url())
                  .guard(TargetGuard.allowingPrivate())
                  .signature(signature));
      var registry = SessionRegistry.create(pool, RegistryOptions.defaults());
      for (int tick = 0; tick < ticks; tick++) {
        double plain = plainInsert(pool);
        tick(pool, usage, registry, plain);
      }
      long started = System.nanoTime();
      usage.deliver(() -> true);
      double seconds = (System.nanoTime() - started) / 1e9;
      int records = receiver.applied().recordCount();
      System.out.printf(
          Locale.ROOT,
          "delivery: %,d records in %.2f s = %,.0f records/s%n",
          records,
          seconds,
          records / seconds);
      started = System.nanoTime();
      boolean exact = usage.proof(Optional.empty()).stream().allMatch(UsageProof::isExact);
      System.out.printf(
          Locale.ROOT,
          "proof: exact=%s in %.2f s; receiver: %d repeated, %d gaps%n",
          exact,
          (System.nanoTime() - started) / 1e9,
          receiver.applied().repeatedRecords(),
          receiver.applied().gaps());
    }
  }

  private static void tick(
      HikariDataSource pool, Usage usage, SessionRegistry registry, double plain) throws Exception {
    var done = new AtomicBoolean();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var putting = threads.submit(() -> putUntil(done, registry));
      var slot = now(pool);
      long started = System.nanoTime();
      int rows = usage.meter(slot);
      double seconds = (System.nanoTime() - started) / 1e9;
      done.set(true);
      var nanos = putting.get();
      System.out.printf(
          Locale.ROOT,
          "tick: %,d rows in %.2f s (%,.0f rows/s), %d PUTs meanwhile p50 %.1f ms p99 %.1f ms; set-based INSERT of the rows alone %.2f s, ratio %.2f%n",
          rows,
          seconds,
          rows / seconds,
          nanos.length,
          at(nanos, 0.5),
          at(nanos, 0.99),
          plain,
          plain / seconds);
    }
  }

  /**
   * Makes PUTs of new and known keys, one after the other with a short pause, to measure latency
   * and not load.
   */
  private static long[] putUntil(AtomicBoolean done, SessionRegistry registry)
      throws InterruptedException {
    var nanos = new long[1 << 20];
    int count = 0;
    while (!done.get() && count < nanos.length) {
      var request =
          count % 2 == 0
              ? new SessionRequest(UUID.randomUUID(), new UUID(0, 1), UUID.randomUUID(), 1)
              : new SessionRequest(
                  new UUID(0, 1 + count),
                  new UUID(0, 1 + (1 + count) % 100),
                  new UUID(0, 1),
                  1 + count % 3);
      long started = System.nanoTime();
      PutOutcome outcome = registry.put(request);
      nanos[count++] = System.nanoTime() - started;
      if (outcome instanceof PutOutcome.TenantMismatch) {
        count--;
      }
      Thread.sleep(1);
    }
    var sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return sorted;
  }

  private static double at(long[] sorted, double part) {
    return sorted.length == 0 ? 0 : sorted[(int) (sorted.length * part)] / 1e6;
  }

  private static Instant now(HikariDataSource pool) throws Exception {
    try (var connection = pool.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery("SELECT clock_timestamp()")) {
      rows.next();
      return rows.getObject(1, OffsetDateTime.class).toInstant();
    }
  }

  /**
   * Inserts the same ledger rows by one statement, without watermarks and batches; then rolls back.
   */
  private static double plainInsert(HikariDataSource pool) throws Exception {
    try (var connection = pool.getConnection();
        var statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      long started = System.nanoTime();
      statement.execute(
          """
          INSERT INTO keeper.usage_ledger (session_id, seq, tenant_id, user_id, capacity_id, kind, period_from,
                 period_to, wmicros, units, batch_id)
          SELECT session_id, meter_seq + 1, tenant_id, user_id, capacity_id, kind, metered_through,
                 clock_timestamp(), (extract(epoch FROM clock_timestamp() - metered_through) * 1000000)::numeric * factor_milli,
                 0, session_id
            FROM keeper.registered_session WHERE NOT closed
          """);
      double seconds = (System.nanoTime() - started) / 1e9;
      connection.rollback();
      connection.setAutoCommit(true);
      statement.execute("VACUUM keeper.usage_ledger");
      return seconds;
    }
  }

  private static HikariDataSource pool(EmbeddedPostgres postgres) {
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(16);
    return new HikariDataSource(config);
  }

  private static void prepare(HikariDataSource pool, int sessions, int tenants) throws Exception {
    try (var connection = pool.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          """
          INSERT INTO keeper.registered_session (session_id, tenant_id, user_id, capacity_id, kind, factor_milli,
                 period_micros, started_at, expires_at, metered_through)
          SELECT keeper.session_id(n), lpad(to_hex(1 + u %% %d), 32, '0')::uuid, lpad(to_hex(u), 32, '0')::uuid,
                 '00000000-0000-0000-0000-000000000001', 1 + u %% 3, 1000 * (1 + u %% 3), 2592000000000,
                 n, n + interval '30 days', n
            FROM generate_series(1, %d) u, (SELECT clock_timestamp() AS n) t
          """
              .formatted(tenants, sessions));
      statement.execute("VACUUM ANALYZE keeper.registered_session");
    }
  }
}
