package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.NumberEvents;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Numbers the events of this node shortly after their commit. Nothing runs while nothing happens;
 * what a node leaves behind when it dies is numbered by a job.
 */
final class NumberEventsSoon implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NumberEventsSoon.class);
  private static final Duration SOON = Duration.ofMillis(20);
  private static final int AT_ONCE = 1000;

  private final Database database;
  private final TimeSource time;
  private final AtomicBoolean planned = new AtomicBoolean();
  private volatile boolean closed;

  NumberEventsSoon(Database database, TimeSource time) {
    this.database = database;
    this.time = time;
  }

  /** There is a new event. */
  void signal() {
    if (!closed && planned.compareAndSet(false, true)) {
      time.schedule(SOON, () -> Thread.ofVirtual().name("number-events").start(this::number));
    }
  }

  private void number() {
    planned.set(false);
    try {
      int numbered;
      do {
        numbered = NumberEvents.step(database, AT_ONCE);
      } while (numbered == AT_ONCE && !closed);
    } catch (RuntimeException e) {
      log.debug("Events were not numbered; the job does it later", e);
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
