package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A durable PostgreSQL in a folder: {@code fsync} on, reached through a Unix socket that no other
 * user can use, with a role that is no superuser.
 *
 * <p>It survives the death of this process, of the database, or of both: {@link #start} ends a
 * database that an earlier process left running on the folder, and a database that dies while this
 * process lives is restarted at the same address.
 */
public final class EmbeddedPostgres implements AutoCloseable {
  static final String USER = "keeper";
  static final String DATABASE = "keeper";

  private final DataFolder folder;
  private final Supervisor supervisor;
  private final Runnable afterClose;
  private boolean closed;

  private EmbeddedPostgres(DataFolder folder, Supervisor supervisor, Runnable afterClose) {
    this.folder = folder;
    this.supervisor = supervisor;
    this.afterClose = afterClose;
  }

  /**
   * Starts the database of this folder, and creates both if they are missing.
   *
   * @throws KeeperException.Misconfigured with one sentence that says what to do, if it cannot
   *     start
   */
  public static EmbeddedPostgres start(Path data) {
    return start(data, ServerSettings.durable(), EmbeddedPostgres::unixSocket, () -> {});
  }

  /**
   * Starts a durable database in a new temporary folder, which is deleted when the database is
   * closed or this process ends. It listens on a loopback port, so that tests can put a proxy or
   * another client in front of it.
   */
  public static EmbeddedPostgres temporary() {
    return temporary(ServerSettings.durable());
  }

  /**
   * Starts a database as {@link #temporary()} does, without waiting for the disk: for tests that
   * kill nothing.
   */
  public static EmbeddedPostgres temporaryWithoutSync() {
    return temporary(ServerSettings.withoutSync());
  }

  private static EmbeddedPostgres temporary(ServerSettings settings) {
    try {
      var data = Files.createTempDirectory("keeper-postgres-");
      var postgres =
          start(data, settings, cluster -> Endpoint.Tcp::onFreePort, () -> DeleteFolder.of(data));
      TemporaryDatabases.opened(postgres);
      return postgres;
    } catch (IOException e) {
      throw new KeeperException.Misconfigured("The temporary folder cannot be written", e);
    }
  }

  private static EmbeddedPostgres start(
      Path data,
      ServerSettings settings,
      Function<Cluster, Supplier<? extends Endpoint>> endpoints,
      Runnable afterClose) {
    var binaries = UnpackBinaries.once();
    var folder = DataFolder.open(data);
    try {
      folder.endWhatWasLeftRunning();
      var cluster = new Cluster(binaries, folder, RunAsUser.choose(folder.path(), binaries));
      cluster.createIfMissing(settings);
      var supervisor = Supervisor.start(cluster, settings, endpoints.apply(cluster));
      return new EmbeddedPostgres(folder, supervisor, afterClose);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private static Supplier<Endpoint> unixSocket(Cluster cluster) {
    var endpoint = new Endpoint.Unix(cluster.sockets());
    return () -> endpoint;
  }

  /** Returns the JDBC URL of the main database, without credentials, but with parameters. */
  public String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  /**
   * Returns the JDBC URL of a database of this server, without credentials, but with parameters.
   */
  public String jdbcUrl(String database) {
    return supervisor.endpoint().jdbcUrl(database);
  }

  public String user() {
    return USER;
  }

  public String password() {
    return folder.password();
  }

  /** Returns the process id of the database, which changes if the database had to be restarted. */
  public long pid() {
    return supervisor.pid();
  }

  /** Returns unpooled connections to the main database. */
  public DataSource dataSource() {
    return dataSource(DATABASE);
  }

  /** Returns unpooled connections to a database of this server. */
  public DataSource dataSource(String database) {
    return dataSource(database, USER, folder.password());
  }

  private DataSource dataSource(String database, String user, String password) {
    var source = new PGSimpleDataSource();
    source.setUrl(jdbcUrl(database));
    source.setUser(user);
    source.setPassword(password);
    return source;
  }

  /** Creates an empty database for a test, and returns a data source for it. */
  public DataSource createDatabase(String name) {
    return createDatabase(name, "template1");
  }

  /**
   * Creates a database as a copy of another one. Tests migrate a template once and copy it, instead
   * of migrating each database.
   *
   * @param template a database that no connection uses during the call
   */
  public synchronized DataSource copyDatabase(String template, String name) {
    return createDatabase(name, template);
  }

  private DataSource createDatabase(String name, String template) {
    requireName(template);
    requireName(name);
    try (var admin = PrepareDatabase.connectAsAdmin(supervisor.endpoint(), folder)) {
      PrepareDatabase.createDatabase(admin, name, template);
      return dataSource(name);
    } catch (SQLException e) {
      throw new KeeperException.Unavailable("PostgreSQL", e);
    }
  }

  private static void requireName(String name) {
    if (!name.matches("[a-z][a-z0-9_]{0,62}")) {
      throw new IllegalArgumentException(
          "A database name has lower-case letters, digits and underscores, was " + name);
    }
  }

  /** Returns connections as superuser, for tests that change the server itself. */
  public DataSource adminDataSource() {
    return dataSource(DATABASE, PrepareDatabase.ADMIN, folder.adminPassword());
  }

  /** Stops the database: open transactions are rolled back, committed ones are kept. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    supervisor.close();
    folder.close();
    afterClose.run();
    TemporaryDatabases.closed(this);
  }
}
