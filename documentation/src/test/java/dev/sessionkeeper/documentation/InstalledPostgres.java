package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A temporary PostgreSQL of the machine's own packages, as Debian installs them, because the
 * embedded one has no {@code pg_dump}. Root starts the server as the user postgres.
 */
final class InstalledPostgres implements AutoCloseable {
  private static final Path VERSIONS = Path.of("/usr/lib/postgresql");

  private final Path bin;
  private final Path data;
  private final int port;

  private InstalledPostgres(Path bin, Path data, int port) {
    this.bin = bin;
    this.data = data;
    this.port = port;
  }

  /** Returns the folder of the newest version that has server and client programs. */
  static Optional<Path> programs() {
    if (!Files.isDirectory(VERSIONS)) {
      return Optional.empty();
    }
    try (Stream<Path> versions = Files.list(VERSIONS)) {
      return versions
          .map(version -> version.resolve("bin"))
          .filter(bin -> Files.isExecutable(bin.resolve("initdb")))
          .filter(bin -> Files.isExecutable(bin.resolve("pg_dump")))
          .max(java.util.Comparator.comparingInt(InstalledPostgres::version));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static int version(Path bin) {
    var name = String.valueOf(bin.getName(bin.getNameCount() - 2));
    return name.matches("\\d+") ? Integer.parseInt(name) : 0;
  }

  static InstalledPostgres start() throws IOException, InterruptedException {
    var bin = programs().orElseThrow();
    int port;
    try (var socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    var folder = Files.createTempDirectory("keeper-postgres");
    var postgres = new InstalledPostgres(bin, folder.resolve("data"), port);
    if (isRoot()) {
      run(List.of("chown", "postgres", folder.toString()));
    }
    var data = postgres.data.toString();
    postgres.program("initdb", "-D", data, "-U", "keeper", "--auth=trust", "-E", "UTF8", "-N");
    postgres.program(
        "pg_ctl",
        "-D",
        data,
        "-w",
        "-l",
        folder.resolve("log").toString(),
        "-o",
        "-p %d -c listen_addresses=127.0.0.1 -k %s".formatted(port, folder),
        "start");
    postgres.program("createdb", "-h", "127.0.0.1", "-p", "" + port, "-U", "keeper", "keeper");
    return postgres;
  }

  /** Returns what a page's programs need to find the database. */
  Map<String, String> environment() {
    return Map.of(
        "PATH",
        bin + ":" + System.getenv("PATH"),
        "PGHOST",
        "127.0.0.1",
        "PGPORT",
        Integer.toString(port),
        "PGUSER",
        "keeper",
        "KEEPER_STORE_URL",
        "jdbc:postgresql://127.0.0.1:%d/keeper".formatted(port),
        "KEEPER_STORE_USER",
        "keeper");
  }

  @Override
  public void close() throws IOException, InterruptedException {
    program("pg_ctl", "-D", data.toString(), "-m", "immediate", "-w", "stop");
    run(List.of("rm", "-rf", String.valueOf(data.getParent())));
  }

  private void program(String name, String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    if (isRoot()) {
      command.addAll(List.of("runuser", "-u", "postgres", "--"));
    }
    command.add(bin.resolve(name).toString());
    command.addAll(List.of(arguments));
    run(command);
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static void run(List<String> command) throws IOException, InterruptedException {
    var output = Files.createTempFile("keeper-postgres", ".out");
    try {
      // A pipe would stay open as long as the server that pg_ctl starts.
      var process =
          new ProcessBuilder(command)
              .directory(Path.of("/").toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (process.waitFor() != 0) {
        throw new IOException(command + " failed: " + Files.readString(output));
      }
    } finally {
      Files.delete(output);
    }
  }
}
