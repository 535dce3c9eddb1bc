package dev.sessionkeeper.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Migrations;
import java.net.URI;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A database of its own for one test, with a pool as an application has one. All tests of this
 * process share one PostgreSQL: the migrations run once, and each test gets a copy of the result.
 */
public final class TestDatabase implements AutoCloseable {
  private static final String CUT =
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%keeper.%'
      """;

  private static final EmbeddedPostgres POSTGRES = startShared();
  private static final String TEMPLATE = migrated("queues_template");
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String name;
  private final DataSource source;
  private final HikariDataSource pool;

  private TestDatabase(String name) {
    this.name = name;
    this.source = POSTGRES.copyDatabase(TEMPLATE, name);
    var config = new HikariConfig();
    config.setDataSource(source);
    config.setMaximumPoolSize(24);
    config.setMinimumIdle(2);
    this.pool = new HikariDataSource(config);
  }

  private static EmbeddedPostgres startShared() {
    var postgres = EmbeddedPostgres.temporaryWithoutSync();
    Runtime.getRuntime().addShutdownHook(new Thread(postgres::close));
    return postgres;
  }

  private static String migrated(String name) {
    Migrations.apply(POSTGRES.createDatabase(name), "queues");
    return name;
  }

  public static TestDatabase start() {
    return new TestDatabase("queues_" + COUNT.incrementAndGet());
  }

  public HikariDataSource pool() {
    return pool;
  }

  /** Returns the number that a query selects for the queue with the given name. */
  public long number(String sql, QueueName queue) {
    try (var connection = pool.getConnection();
        var statement = connection.prepareStatement(sql)) {
      statement.setString(1, queue.value());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns how many rows of a table or view belong to the queue. */
  public long count(String table, QueueName queue) {
    return number(
        "SELECT count(*) FROM keeper."
            + table
            + " t JOIN keeper.queue k ON k.id = t.queue WHERE k.name = ?",
        queue);
  }

  /** Breaks all connections that the queues use, and returns how many. */
  public int cutConnections() {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(CUT)) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  public String name() {
    return name;
  }

  public String url() {
    return POSTGRES.jdbcUrl(name);
  }

  /** Returns the port of the server, for a proxy in front of it. */
  public int port() {
    return URI.create(url().substring("jdbc:".length())).getPort();
  }

  public String user() {
    return POSTGRES.user();
  }

  public String password() {
    return POSTGRES.password();
  }

  /** Returns connections outside the pool. */
  public DataSource unpooled() {
    return source;
  }

  /** Returns connections as superuser of the server that all tests share. */
  public DataSource admin() {
    return POSTGRES.adminDataSource();
  }

  /**
   * Drops the database with its connections, whose transactions would otherwise delay later tests.
   */
  @Override
  public void close() {
    pool.close();
    try (var connection = admin().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("DROP DATABASE " + name + " WITH (FORCE)");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
