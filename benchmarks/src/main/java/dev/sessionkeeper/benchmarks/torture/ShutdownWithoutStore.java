package dev.sessionkeeper.benchmarks.torture;

import dev.sessionkeeper.benchmarks.http.ServerChild;
import dev.sessionkeeper.benchmarks.processes.ChildProcess;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Ends a server whose database is frozen. */
final class ShutdownWithoutStore {
  /** The deadline of the server, plus some time for a busy machine. */
  private static final Duration DEADLINE = Duration.ofSeconds(45);

  private ShutdownWithoutStore() {}

  static Seen run(Path folder) throws Exception {
    try (var postgres = EmbeddedPostgres.temporary()) {
      var server = ServerChild.start(postgres, "keeper", folder.resolve("server.log"));
      var backends = ProcessHandle.of(postgres.pid()).orElseThrow();
      try (server) {
        ServerChild.addressOf(server);
        signalAll(backends, "STOP");
        long began = System.nanoTime();
        server.leave();
        boolean hasEnded = server.awaitEnd(DEADLINE);
        var took = Duration.ofNanos(System.nanoTime() - began).toMillis() + " ms";
        return hasEnded
            ? Seen.kept("ended after " + took)
            : Seen.broken("still running after " + took);
      } finally {
        signalAll(backends, "CONT");
      }
    }
  }

  private static void signalAll(ProcessHandle parent, String signal)
      throws IOException, InterruptedException {
    for (var child : parent.descendants().filter(ProcessHandle::isAlive).toList()) {
      try {
        ChildProcess.signal(child.pid(), signal);
      } catch (IOException e) {
        // It ended by itself in between.
      }
    }
    ChildProcess.signal(parent.pid(), signal);
  }
}
