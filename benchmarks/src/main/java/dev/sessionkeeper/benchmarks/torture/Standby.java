package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.processes.DatabaseAddress;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * An asynchronous standby of a temporary database. It receives through a proxy, which can hold back
 * the last transactions before the standby is promoted.
 */
final class Standby implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration STEP = Duration.ofMillis(50);
  private static final String ROLE = "standby";

  private final FaultyNetwork network;
  private final Process process;
  private final DatabaseAddress address;
  private final DataSource admin;

  private Standby(
      FaultyNetwork network, Process process, DatabaseAddress address, DataSource admin) {
    this.network = network;
    this.process = process;
    this.address = address;
    this.admin = admin;
  }

  /** Copies the running database, and starts the copy. */
  static Standby of(EmbeddedPostgres primary, Path log) throws Exception {
    var address = DatabaseAddress.of(primary);
    var network = FaultyNetwork.to(address.port());
    var admin = (PGSimpleDataSource) primary.adminDataSource();
    int port = freePort();
    Path copy;
    try (var connection = admin.getConnection()) {
      execute(connection, "CREATE ROLE " + ROLE + " LOGIN REPLICATION PASSWORD '" + ROLE + "'");
      var data = Path.of(text(connection, "SHOW data_directory"));
      copy = data.resolveSibling("standby");
      execute(connection, "SELECT pg_backup_start('standby', true)");
      require(List.of("cp", "-a", data.toString(), copy.toString()), log);
      var label = text(connection, "SELECT labelfile FROM pg_backup_stop(false)");
      Files.deleteIfExists(copy.resolve("postmaster.pid"));
      Files.deleteIfExists(copy.resolve("postmaster.opts"));
      Files.writeString(copy.resolve("backup_label"), label);
      Files.writeString(copy.resolve("standby.signal"), "");
      require(List.of("chown", "--reference=" + data, "-R", copy.toString()), log);
    }
    var process = start(primary, copy, port, network.port(), log);
    var own = new PGSimpleDataSource();
    own.setUrl(address.through(port).url());
    own.setUser(admin.getUser());
    own.setPassword(admin.getPassword());
    var standby = new Standby(network, process, address.through(port), own);
    standby.await("SELECT pg_is_in_recovery() AND count(*) > 0 FROM pg_stat_wal_receiver");
    return standby;
  }

  private static Process start(EmbeddedPostgres primary, Path data, int port, int source, Path log)
      throws IOException, InterruptedException {
    var program = Files.readSymbolicLink(Path.of("/proc/" + primary.pid() + "/exe"));
    var command = new ArrayList<String>();
    if (System.getProperty("user.name").equals("root")) {
      var owner = Files.getOwner(data).getName();
      command.addAll(List.of("setpriv", "--reuid=" + owner, "--regid=" + groupOf(owner)));
      command.addAll(List.of("--clear-groups", "--no-new-privs"));
    }
    command.addAll(List.of(program.toString(), "-D", data.toString()));
    for (var setting :
        List.of(
            "listen_addresses=127.0.0.1",
            "port=" + port,
            "unix_socket_directories=",
            "max_connections=200",
            "wal_retrieve_retry_interval=200ms",
            "primary_conninfo=host=127.0.0.1 port="
                + source
                + " user="
                + ROLE
                + " password="
                + ROLE
                + " sslmode=disable")) {
      command.addAll(List.of("-c", setting));
    }
    return new ProcessBuilder(command)
        .directory(data.toFile())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
        .start();
  }

  private static String groupOf(String user) throws IOException, InterruptedException {
    var process = new ProcessBuilder("id", "-g", user).start();
    var group = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    if (process.waitFor() != 0) {
      throw new IOException("User " + user + " has no group");
    }
    return group.strip();
  }

  DatabaseAddress address() {
    return address;
  }

  /** Waits until the standby has everything that the primary has written by now. */
  void awaitAll(EmbeddedPostgres primary) throws Exception {
    String end;
    try (var connection = primary.adminDataSource().getConnection()) {
      end = text(connection, "SELECT pg_current_wal_flush_lsn()");
    }
    await("SELECT pg_last_wal_replay_lsn() >= '" + end + "'::pg_lsn");
  }

  /** Stops receiving from the primary. */
  void isolate() {
    network.freeze();
  }

  /** Promotes the standby to the primary. */
  void promote() throws Exception {
    try (var connection = admin.getConnection()) {
      execute(connection, "SELECT pg_promote(true, " + PATIENCE.toSeconds() + ")");
    }
    await("SELECT NOT pg_is_in_recovery()");
  }

  private void await(String question) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try (var connection = admin.getConnection()) {
        if (text(connection, question).equals("t")) {
          return;
        }
      } catch (SQLException e) {
        if (!process.isAlive()) {
          throw new IllegalStateException("The standby ended; its log tells why", e);
        }
      }
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("The standby did not answer yes to " + question);
      }
      Thread.sleep(STEP);
    }
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private static void require(List<String> command, Path log)
      throws IOException, InterruptedException {
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " failed; see " + log);
    }
  }

  @Override
  public void close() throws IOException {
    network.close();
    process.destroy();
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }
}
