package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** The database files of one folder, and the programs that create and serve them. */
record Cluster(Path binaries, DataFolder folder, RunAs runAs) {
  private static final Duration START_PATIENCE = Duration.ofSeconds(60);

  /**
   * Creates the files. An attempt that broke off earlier is removed first: without PG_VERSION it
   * was never finished.
   */
  void createIfMissing() {
    if (Files.exists(folder.database().resolve("PG_VERSION"))) {
      return;
    }
    if (Files.exists(folder.database())) {
      DeleteFolder.of(folder.database());
    }
    run(
        "initdb",
        List.of(
            "-D",
            folder.database().toString(),
            "-U",
            EmbeddedPostgres.USER,
            "--pwfile=" + folder.path().resolve("password"),
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C"));
  }

  /** Starts the server process and waits until it answers. */
  Process serve(int port, ServerSettings settings) {
    var arguments = new ArrayList<>(List.of("-D", folder.database().toString(), "-p", "" + port));
    arguments.addAll(settings.asArguments());
    try {
      var process = builder("postgres", arguments).start();
      waitUntilItAnswers(process, port);
      return process;
    } catch (IOException e) {
      throw cannotStart("the program did not run: " + e.getMessage());
    }
  }

  private void waitUntilItAnswers(Process process, int port) {
    var time = TimeSource.system();
    long begun = time.nanoTime();
    while (!answers(port)) {
      if (!process.isAlive()) {
        throw cannotStart("it ended with code " + process.exitValue());
      }
      if (time.since(begun).compareTo(START_PATIENCE) > 0) {
        process.destroyForcibly();
        throw cannotStart("it did not answer within " + START_PATIENCE.toSeconds() + " s");
      }
      EndProcess.pause();
    }
  }

  /**
   * Connects to the maintenance database and creates ours if it is not there: a crash may have come
   * in between.
   */
  private boolean answers(int port) {
    var login = new Properties();
    login.setProperty("user", EmbeddedPostgres.USER);
    login.setProperty("password", folder.password());
    login.setProperty("loginTimeout", "5");
    try (var connection =
            DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:" + port + "/postgres", login);
        var statement = connection.createStatement()) {
      try (var found =
          statement.executeQuery(
              "SELECT 1 FROM pg_database WHERE datname = '" + EmbeddedPostgres.DATABASE + "'")) {
        if (found.next()) {
          return true;
        }
      }
      statement.execute("CREATE DATABASE " + EmbeddedPostgres.DATABASE);
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private void run(String program, List<String> arguments) {
    try {
      int code = builder(program, arguments).start().waitFor();
      if (code != 0) {
        throw cannotStart(program + " ended with code " + code);
      }
    } catch (IOException e) {
      throw cannotStart(program + " did not run: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cannotStart(program + " was interrupted");
    }
  }

  private ProcessBuilder builder(String program, List<String> arguments) {
    var builder =
        new ProcessBuilder(runAs.command(binaries.resolve("bin").resolve(program), arguments))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.log().toFile()));
    builder.environment().put("LC_ALL", "C");
    builder.environment().remove("PGDATA");
    return builder;
  }

  private KeeperException.Misconfigured cannotStart(String why) {
    return new KeeperException.Misconfigured(
        "The embedded PostgreSQL could not start: "
            + why
            + "; its log "
            + folder.log()
            + " ends with: "
            + lastLogLine());
  }

  private String lastLogLine() {
    try {
      var lines = Files.readAllLines(folder.log());
      return lines.isEmpty() ? "(nothing)" : lines.get(lines.size() - 1);
    } catch (IOException e) {
      return "(it cannot be read)";
    }
  }
}
