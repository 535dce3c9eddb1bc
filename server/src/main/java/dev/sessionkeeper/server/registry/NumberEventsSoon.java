package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.EventLog;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.store.NumberEvents;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Assigns numbers to the events of this node shortly after their commit. Idle while there are no
 * new events; a job numbers events of nodes that died.
 */
final class NumberEventsSoon implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NumberEventsSoon.class);
  private static final Duration SOON = Duration.ofMillis(20);
  private static final int AT_ONCE = 1000;

  private final Database database;
  private final Optional<Notices> notices;
  private final TimeSource time;
  private final AtomicBoolean planned = new AtomicBoolean();
  private volatile boolean closed;

  NumberEventsSoon(Database database, Optional<Notices> notices, TimeSource time) {
    this.database = database;
    this.notices = notices;
    this.time = time;
  }

  /** Signals that there is a new event. */
  void signal() {
    if (!closed && planned.compareAndSet(false, true)) {
      time.schedule(SOON, () -> Thread.ofVirtual().name("number-events").start(this::number));
    }
  }

  private void number() {
    planned.set(false);
    try {
      boolean more = true;
      while (more && !closed) {
        more = step() == AT_ONCE;
      }
    } catch (RuntimeException e) {
      log.debug("Events were not numbered; the job does it later", e);
    }
  }

  /** Numbers some events and notifies readers; returns how many. */
  int step() {
    int numbered = NumberEvents.step(database, AT_ONCE);
    if (numbered > 0) {
      notices.ifPresent(told -> told.tell(EventLog.CHANNEL, ""));
    }
    return numbered;
  }

  @Override
  public void close() {
    closed = true;
  }
}
