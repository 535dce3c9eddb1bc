package dev.sessionkeeper.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A PgBouncer in transaction mode in front of a test database, with few connections to it. */
final class PgBouncer implements AutoCloseable {
  private static final List<Path> BINARIES =
      List.of(Path.of("/usr/sbin/pgbouncer"), Path.of("/usr/bin/pgbouncer"));

  private final Process process;
  private final int port;

  private PgBouncer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Returns the installed binary. */
  static Optional<Path> binary() {
    return BINARIES.stream().filter(Files::isExecutable).findFirst();
  }

  static PgBouncer start(Path binary, TestDatabase database, int serverConnections)
      throws IOException {
    int port = freePort();
    var config = Files.createTempFile("keeper-pgbouncer-", ".ini");
    // PgBouncer gives up the rights of root before it reads its settings again.
    Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-r--r--"));
    Files.writeString(
        config,
        """
        [databases]
        * = host=127.0.0.1 port=%d user=%s password=%s
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        max_client_conn = 200
        default_pool_size = %d
        ignore_startup_parameters = extra_float_digits
        """
            .formatted(
                database.port(), database.user(), database.password(), port, serverConnections));
    var command = new ArrayList<>(List.of(binary.toString(), "-q"));
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("-u", "nobody"));
    }
    command.add(config.toString());
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    config.toFile().deleteOnExit();
    return new PgBouncer(process, port);
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Returns the URL for a driver that prepares no statements on the server. */
  String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?prepareThreshold=0";
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
