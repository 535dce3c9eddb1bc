package dev.sessionkeeper.embedded;

import java.io.File;
import java.nio.file.Path;

/**
 * Starts a database in a process of its own and kills that process like a crash: the database
 * stays.
 */
final class LeaveRunning {
  private static final String TEMPORARY = "temporary";
  private static final String CLOSING = "SELECT 'closing'";

  private final Path data;
  private long pid;
  private String last = "";

  LeaveRunning(Path data) {
    this.data = data;
  }

  void startAndAbandon(String sql) throws Exception {
    start(sql, "-KILL");
  }

  /**
   * Terminates the process as a service manager would: a test's database must not be left running.
   */
  void startTemporaryAndTerminate() throws Exception {
    start(TEMPORARY, "-TERM");
  }

  /** Terminates the process as a service manager would, while it closes its database. */
  void startAndTerminateWhileClosing() throws Exception {
    start(CLOSING, "-TERM");
  }

  private void start(String sql, String signal) throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var child =
        new ProcessBuilder(
                java,
                "-cp",
                System.getProperty("java.class.path", "") + File.pathSeparator,
                LeaveRunning.class.getName(),
                data.toString(),
                sql)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var out = child.inputReader()) {
      for (var line = out.readLine(); line != null; line = out.readLine()) {
        if (line.startsWith("pid ")) {
          pid = Long.parseLong(line.substring(4));
          new ProcessBuilder("kill", signal, "" + child.pid()).start().waitFor();
        }
        last = line;
      }
    }
    child.waitFor();
    if (pid == 0) {
      throw new IllegalStateException("The child process did not start a database");
    }
  }

  /** Returns the last output of the process. */
  String last() {
    return last;
  }

  long pid() {
    return pid;
  }

  public static void main(String[] args) throws Exception {
    if (args[1].equals(TEMPORARY)) {
      System.out.println("pid " + EmbeddedPostgres.temporaryWithoutSync().pid());
      Thread.currentThread().join();
    }
    var postgres = EmbeddedPostgres.start(Path.of(args[0]));
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(args[1]);
    }
    if (args[1].equals(CLOSING)) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> close(postgres)));
    }
    System.out.println("pid " + postgres.pid());
    Thread.currentThread().join();
  }

  private static void close(EmbeddedPostgres postgres) {
    try {
      postgres.close();
      System.out.println("closed");
    } catch (RuntimeException | Error e) {
      System.out.println(e);
    }
  }
}
