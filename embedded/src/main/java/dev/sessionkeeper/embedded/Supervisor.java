package dev.sessionkeeper.embedded;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one database running: when its process dies unexpectedly, the database is restarted at the
 * same address.
 *
 * <p>One daemon thread waits for the process. {@link #close()} may be called at any time from any
 * thread.
 */
final class Supervisor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Supervisor.class);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(20);
  private static final int START_TRIES = 5;
  private static final int RESTART_TRIES = 20;

  private final Cluster cluster;
  private final ServerSettings settings;
  private final Endpoint endpoint;
  private final Thread watcher;
  private volatile Process process;
  private volatile boolean closing;

  private Supervisor(Cluster cluster, ServerSettings settings, Endpoint endpoint, Process process) {
    this.cluster = cluster;
    this.settings = settings;
    this.endpoint = endpoint;
    this.process = process;
    this.watcher =
        Thread.ofPlatform().daemon().name("keeper-postgres").unstarted(this::restartWhenItDies);
  }

  /**
   * Starts the database.
   *
   * @param endpoints where to listen; asked before each attempt
   */
  static Supervisor start(
      Cluster cluster, ServerSettings settings, Supplier<? extends Endpoint> endpoints) {
    for (int attempt = 1; ; attempt++) {
      var endpoint = endpoints.get();
      try {
        var supervisor =
            new Supervisor(cluster, settings, endpoint, cluster.serve(endpoint, settings));
        supervisor.watcher.start();
        return supervisor;
      } catch (KeeperException.Misconfigured e) {
        // Another process may have taken the port, or a zombie may remain.
        if (attempt == START_TRIES) {
          throw e;
        }
        TerminateProcess.pause();
        cluster.folder().endWhatWasLeftRunning();
      }
    }
  }

  Endpoint endpoint() {
    return endpoint;
  }

  long pid() {
    return process.pid();
  }

  private void restartWhenItDies() {
    while (!closing) {
      int code = waitFor(process);
      if (closing) {
        return;
      }
      log.error("The embedded PostgreSQL ended with code {}; it is started again", code);
      if (!restarted()) {
        log.error(
            "The embedded PostgreSQL could not be started again; its log is {}",
            cluster.folder().log());
        return;
      }
      log.info("The embedded PostgreSQL is back at {}", endpoint.description());
    }
    TerminateProcess.gracefully(process.pid(), STOP_PATIENCE);
  }

  /**
   * Restarts the database. Children of a killed database may hold its memory for a moment, and it
   * refuses to start until they are gone.
   */
  private boolean restarted() {
    for (int attempt = 1; attempt <= RESTART_TRIES && !closing; attempt++) {
      try {
        cluster.folder().endWhatWasLeftRunning();
        process = cluster.serve(endpoint, settings);
        return true;
      } catch (KeeperException.Misconfigured e) {
        log.warn("Attempt {} to start it again failed: {}", attempt, e.getMessage());
        waitABit();
      }
    }
    return false;
  }

  @Override
  public void close() {
    closing = true;
    TerminateProcess.gracefully(process.pid(), STOP_PATIENCE);
    // The watcher may be restarting the database; then it ends what it started.
    waitFor(watcher);
  }

  private static void waitFor(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static int waitFor(Process process) {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return -1;
    }
  }

  private static void waitABit() {
    try {
      Thread.sleep(500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
