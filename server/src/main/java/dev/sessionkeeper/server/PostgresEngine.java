package dev.sessionkeeper.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.jobs.JobContext;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.server.feature.Engine;
import dev.sessionkeeper.server.security.AuditLog;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.time.TimeSource;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps everything in PostgreSQL: an embedded one in a folder, or one that the configuration names.
 */
final class PostgresEngine implements Engine {
  // The longest wait for a connection. With the statement limit, each call ends within ten seconds.
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(2);
  private static final Duration SOCKET_PATIENCE = Duration.ofSeconds(8);

  /**
   * Sets time limits on a connection, unless its role or database has stricter ones. PostgreSQL
   * ends the transaction of a frozen process and frees its locks before other processes give up
   * waiting.
   */
  private static final String LIMITS =
      """
      SELECT set_config(s.name, w.millis::text, false)
        FROM pg_settings s
        JOIN (VALUES ('idle_in_transaction_session_timeout', 3000), ('lock_timeout', 5000),
                     ('statement_timeout', 7000)) w (name, millis) USING (name)
       WHERE s.setting::bigint = 0 OR s.setting::bigint > w.millis
      """;

  private static final Logger log = LoggerFactory.getLogger(PostgresEngine.class);
  private static final Duration VALIDATION = Duration.ofSeconds(1);
  private static final int PROBE_SECONDS = 2;
  private static final String HOUSEKEEPING = "queue-housekeeping";
  private static final Duration KEEP_HOUSE_EVERY = Duration.ofSeconds(15);

  private final Optional<EmbeddedPostgres> embedded;
  private final Optional<Path> folder;
  private final HikariDataSource pool;
  private final ServerSecret secret;
  private final Notices notices;
  private final PostgresQueueProvider queues;
  private final String description;
  private final WatchWrites writes;
  private final WatchFunctions functions = new WatchFunctions();

  private PostgresEngine(
      Optional<EmbeddedPostgres> embedded,
      Optional<Path> folder,
      HikariConfig access,
      String description,
      TimeSource time) {
    this.embedded = embedded;
    this.folder = folder;
    this.pool = new HikariDataSource(access);
    this.description = description;
    Migrations.apply(pool, "store");
    this.secret = ServerSecret.in(Database.of(pool));
    Migrations.apply(pool, "health");
    this.notices = Notices.over(pool, pool);
    this.queues =
        PostgresQueueProvider.create(
            pool, PostgresOptions.ofDefaults().withoutHousekeeping(), time, notices);
    this.writes = new WatchWrites(pool, time);
  }

  static PostgresEngine open(StoreConfig store, TimeSource time) {
    return store.url().equals("embedded") ? openEmbedded(store, time) : openNamed(store, time);
  }

  private static PostgresEngine openEmbedded(StoreConfig store, TimeSource time) {
    log.info(
        "Starting the embedded PostgreSQL in {}; a first start unpacks it and takes some seconds",
        store.data());
    var postgres = EmbeddedPostgres.start(store.data());
    try {
      var access = access(postgres.jdbcUrl(), store.poolSize());
      access.setUsername(postgres.user());
      access.setPassword(postgres.password());
      var description =
          "an embedded PostgreSQL, its data is in " + store.data().toAbsolutePath().normalize();
      return new PostgresEngine(
          Optional.of(postgres), Optional.of(store.data()), access, description, time);
    } catch (RuntimeException e) {
      postgres.close();
      throw e;
    }
  }

  private static PostgresEngine openNamed(StoreConfig store, TimeSource time) {
    var access = access(store.url(), store.poolSize());
    store.user().ifPresent(access::setUsername);
    store.password().map(Secret::reveal).ifPresent(access::setPassword);
    try {
      return new PostgresEngine(
          Optional.empty(),
          Optional.empty(),
          access,
          "PostgreSQL at " + withoutParameters(store.url()),
          time);
    } catch (com.zaxxer.hikari.pool.HikariPool.PoolInitializationException e) {
      throw new KeeperException.Misconfigured(ExplainDatabase.connecting(store.url(), e), e);
    }
  }

  private static HikariConfig access(String url, int poolSize) {
    var access = new HikariConfig();
    access.setPoolName("keeper");
    access.setJdbcUrl(url);
    access.setMaximumPoolSize(poolSize);
    access.setConnectionTimeout(CONNECT_PATIENCE.toMillis());
    access.setValidationTimeout(VALIDATION.toMillis());
    access.setConnectionInitSql(LIMITS);
    // TCP keepalive detects a database host that vanished, so that no statement waits for it
    // without end.
    access.addDataSourceProperty("tcpKeepAlive", "true");
    access.addDataSourceProperty("connectTimeout", String.valueOf(CONNECT_PATIENCE.toSeconds()));
    access.addDataSourceProperty("socketTimeout", String.valueOf(SOCKET_PATIENCE.toSeconds()));
    access.addDataSourceProperty("reWriteBatchedInserts", "true");
    return access;
  }

  /** Removes the parameters of a URL, which may hold a password. */
  private static String withoutParameters(String url) {
    int question = url.indexOf('?');
    return question < 0 ? url : url.substring(0, question);
  }

  @Override
  public QueueProvider queues() {
    return queues;
  }

  @Override
  public Optional<DataSource> database() {
    return Optional.of(pool);
  }

  @Override
  public Optional<Path> dataFolder() {
    return folder;
  }

  @Override
  public Optional<Notices> notices() {
    return Optional.of(notices);
  }

  @Override
  public AuditLog audit() {
    return new PostgresAuditLog(Database.of(pool));
  }

  @Override
  public ServerSecret secret() {
    return secret;
  }

  @Override
  public AuditedQueues audited() {
    return new PostgresAuditedQueues(queues, new SearchDeadLetters(Database.of(pool)));
  }

  @Override
  public void schedule(Jobs jobs) {
    jobs.register(HOUSEKEEPING, Schedule.every(KEEP_HOUSE_EVERY), this::keepHouse);
  }

  private void keepHouse(JobContext context) {
    boolean more = true;
    while (more && context.isHeld() && !context.isStopping()) {
      more = queues.keepHouse();
    }
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Optional<String> notReady() {
    try (var connection = pool.getConnection()) {
      if (!connection.isValid(PROBE_SECONDS)) {
        return Optional.of("The database does not answer");
      }
      var dropped = functions.trouble(connection);
      return dropped.isPresent() ? dropped : writes.trouble();
    } catch (SQLException e) {
      return Optional.of("The database does not answer: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    writes.close();
    try {
      queues.close();
      notices.close();
    } finally {
      pool.close();
      embedded.ifPresent(EmbeddedPostgres::close);
    }
  }
}
