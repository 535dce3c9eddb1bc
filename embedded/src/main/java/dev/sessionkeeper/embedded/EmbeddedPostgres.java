package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A durable PostgreSQL that lives in a folder: {@code fsync} on, a password of its own, loopback
 * only.
 *
 * <p>It survives the death of this process, of the database, or of both: {@link #start} ends what
 * an earlier process left running on the folder, and a database that dies while this process lives
 * is started again on the same port.
 */
public final class EmbeddedPostgres implements AutoCloseable {
  static final String USER = "keeper";
  static final String DATABASE = "keeper";

  private final DataFolder folder;
  private final Supervisor supervisor;
  private final Runnable afterClose;

  private EmbeddedPostgres(DataFolder folder, Supervisor supervisor, Runnable afterClose) {
    this.folder = folder;
    this.supervisor = supervisor;
    this.afterClose = afterClose;
  }

  /**
   * Starts the database of this folder; the first time it creates both.
   *
   * @throws KeeperException.Misconfigured with one sentence that says what to do, if it cannot
   *     start
   */
  public static EmbeddedPostgres start(Path data) {
    return start(data, ServerSettings.durable(), () -> {});
  }

  /** A durable database in a new temporary folder, which goes when it is closed. */
  public static EmbeddedPostgres temporary() {
    return temporary(ServerSettings.durable());
  }

  /** As {@link #temporary()}, but it does not wait for the disk: for tests that kill nothing. */
  public static EmbeddedPostgres temporaryWithoutSync() {
    return temporary(ServerSettings.withoutSync());
  }

  private static EmbeddedPostgres temporary(ServerSettings settings) {
    try {
      var data = Files.createTempDirectory("keeper-postgres-");
      return start(data, settings, () -> DeleteFolder.of(data));
    } catch (IOException e) {
      throw new KeeperException.Misconfigured("The temporary folder cannot be written", e);
    }
  }

  private static EmbeddedPostgres start(Path data, ServerSettings settings, Runnable afterClose) {
    var binaries = UnpackBinaries.once();
    var folder = DataFolder.open(data);
    try {
      var runAs = RunAs.currentUser(folder.path());
      folder.endWhatWasLeftRunning();
      var cluster = new Cluster(binaries, folder, runAs);
      cluster.createIfMissing();
      return new EmbeddedPostgres(folder, Supervisor.start(cluster, settings), afterClose);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  /** The address of the database, without credentials. */
  public String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  public String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:" + supervisor.port() + "/" + database;
  }

  public String user() {
    return USER;
  }

  public String password() {
    return folder.password();
  }

  /** The process id of the database now; it changes when the database had to be started again. */
  public long pid() {
    return supervisor.pid();
  }

  /** A source of unpooled connections to the main database. */
  public DataSource dataSource() {
    return dataSource(DATABASE);
  }

  /** A source of unpooled connections to a database of this server. */
  public DataSource dataSource(String database) {
    var source = new PGSimpleDataSource();
    source.setUrl(jdbcUrl(database));
    source.setUser(USER);
    source.setPassword(folder.password());
    return source;
  }

  /**
   * Creates an empty database, for tests that want one of their own, and returns a source of
   * connections to it.
   */
  public DataSource createDatabase(String name) {
    if (!name.matches("[a-z][a-z0-9_]{0,62}")) {
      throw new IllegalArgumentException(
          "A database name has lower-case letters, digits and underscores, was " + name);
    }
    try (var connection = dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
      return dataSource(name);
    } catch (SQLException e) {
      throw new KeeperException.Unavailable("PostgreSQL", e);
    }
  }

  /** Stops the database: open transactions are rolled back, everything committed is kept. */
  @Override
  public void close() {
    supervisor.close();
    folder.close();
    afterClose.run();
  }
}
