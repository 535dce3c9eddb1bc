package dev.sessionkeeper.postgres.operate;

import dev.sessionkeeper.postgres.queue.ProviderContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Cleans up: forgets ids whose duplicate window is over, dead-letters expired messages of queues
 * without consumers, and adds up counts. One process at a time does it.
 */
public final class Housekeeping implements AutoCloseable {
  private static final long EVERY_MILLIS = Duration.ofSeconds(10).toMillis();
  private static final String HOUSE = "SELECT keeper.keep_house(?)";

  private final ProviderContext setup;
  private final boolean isScheduled;
  private final AtomicBoolean isRunning = new AtomicBoolean();
  private volatile boolean closed;

  /**
   * Creates the housekeeping.
   *
   * @param isScheduled whether it runs on a timer of its own
   */
  public Housekeeping(ProviderContext setup, boolean isScheduled) {
    this.setup = setup;
    this.isScheduled = isScheduled;
  }

  /** Starts the timer at the first use of the provider. */
  public void house() {
    if (isScheduled && !isRunning.get() && isRunning.compareAndSet(false, true)) {
      schedule();
    }
  }

  private void schedule() {
    if (!closed) {
      long wait = EVERY_MILLIS + ThreadLocalRandom.current().nextLong(EVERY_MILLIS / 2);
      var unused = setup.time().schedule(Duration.ofMillis(wait), this::start);
    }
  }

  /** Starts a thread, because other timers share the timer's own. */
  private void start() {
    var unused = Thread.ofVirtual().name("keeper-house").start(this::keep);
  }

  private void keep() {
    try {
      while (!closed && some()) {
        Thread.onSpinWait();
      }
    } catch (RuntimeException e) {
      setup.log().debug("Housekeeping failed and is tried again later", e);
    } finally {
      schedule();
    }
  }

  /** Does one step. Returns whether there is more to do at once. */
  public boolean some() {
    return setup.connections().call(this::keepSome);
  }

  private boolean keepSome(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement(HOUSE)) {
      statement.setLong(1, setup.node().shard());
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getBoolean(1);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
