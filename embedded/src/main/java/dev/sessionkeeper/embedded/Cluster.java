package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The database files of one folder, and the programs that create and serve them. */
record Cluster(Path binaries, DataFolder folder, RunAsUser runAs) {
  /** The program {@code setsid} of util-linux, which other systems may not have. */
  private static final Path SETSID = Path.of("/usr/bin/setsid");

  private static final Duration START_PATIENCE = Duration.ofSeconds(60);

  /**
   * Creates the database files, after removing those of an earlier attempt without PG_VERSION,
   * which never finished.
   *
   * @param settings without {@code fsync}, the files are not flushed to the disk either
   */
  void createIfMissing(ServerSettings settings) {
    try {
      createOwnFolder();
      if (!Files.exists(folder.database().resolve("PG_VERSION"))) {
        initialize(settings);
      }
    } catch (IOException e) {
      throw cannotStart("its folder could not be prepared: " + e.getMessage());
    }
  }

  /** Returns the folder of the socket, which the database's user can write. */
  Path sockets() {
    try {
      var sockets = folder.sockets();
      runAs.handOver(sockets);
      return sockets;
    } catch (IOException e) {
      throw cannotStart("the folder of its socket could not be prepared: " + e.getMessage());
    }
  }

  private void createOwnFolder() throws IOException {
    PrivateFiles.folder(folder.database());
    runAs.handOver(folder.database());
    runAs.handOverOnly(folder.path());
  }

  private void initialize(ServerSettings settings) throws IOException {
    DeleteFolder.contentOf(folder.database());
    // initdb runs as the database's user, who cannot read root's password file.
    var password = Files.createTempFile(folder.path(), "initdb-", "");
    try {
      Files.writeString(password, folder.adminPassword());
      runAs.handOver(password);
      var arguments =
          new ArrayList<>(
              List.of(
                  "-D",
                  folder.database().toString(),
                  "-U",
                  PrepareDatabase.ADMIN,
                  "--pwfile=" + password,
                  "--auth=scram-sha-256",
                  "--encoding=UTF8",
                  "--locale=C"));
      if (!settings.isSynced()) {
        arguments.add("--no-sync");
      }
      run("initdb", arguments);
    } finally {
      Files.deleteIfExists(password);
    }
  }

  /** Starts the server process and waits until it answers. */
  Process serve(Endpoint endpoint, ServerSettings settings) {
    var arguments = new ArrayList<>(List.of("-D", folder.database().toString()));
    arguments.addAll(settings.with(endpoint.settings()).asArguments());
    try {
      var builder = builder("postgres", arguments);
      builder.command(inOwnGroup(builder.command()));
      var process = builder.start();
      waitUntilItAnswers(process, endpoint);
      return process;
    } catch (IOException e) {
      throw cannotStart("the program did not run: " + e.getMessage());
    }
  }

  /**
   * Returns a command that runs in a process group of its own. Ctrl-C in a terminal interrupts all
   * processes of its group, but the database must live until the server has ended. The command
   * replaces itself by the program, so that the process keeps its id.
   */
  private static List<String> inOwnGroup(List<String> command) {
    if (!Files.isExecutable(SETSID)) {
      return command;
    }
    var alone = new ArrayList<>(List.of(SETSID.toString()));
    alone.addAll(command);
    return alone;
  }

  private void waitUntilItAnswers(Process process, Endpoint endpoint) {
    var time = TimeSource.system();
    long begun = time.nanoTime();
    var prepare = new PrepareDatabase(endpoint, folder);
    while (!prepare.succeeds()) {
      if (!process.isAlive()) {
        throw cannotStart("it ended with code " + process.exitValue());
      }
      if (time.since(begun).compareTo(START_PATIENCE) > 0) {
        process.destroyForcibly();
        throw cannotStart(
            "it did not answer within "
                + START_PATIENCE.toSeconds()
                + " s ("
                + prepare.lastError()
                + ")");
      }
      TerminateProcess.pause();
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
            .directory(folder.database().toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.log().toFile()));
    // The server's environment contains secrets, and settings that PostgreSQL would follow.
    builder.environment().clear();
    builder.environment().put("LC_ALL", "C");
    builder.environment().put("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
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
