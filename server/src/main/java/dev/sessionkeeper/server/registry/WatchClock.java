package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.registry.usage.Usage;
import dev.sessionkeeper.server.usage.UsageMeters;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the database's clock regularly, so that a jump is compared with a recent reading. */
final class WatchClock implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WatchClock.class);
  private static final Duration EVERY = Duration.ofSeconds(10);

  private final Usage usage;
  private final UsageMeters meters;
  private final TimeSource time;
  private volatile boolean closed;

  WatchClock(Usage usage, UsageMeters meters, TimeSource time) {
    this.usage = usage;
    this.meters = meters;
    this.time = time;
    plan();
  }

  private void plan() {
    if (!closed) {
      time.schedule(EVERY, () -> Thread.ofVirtual().name("watch-clock").start(this::look));
    }
  }

  private void look() {
    try {
      usage.watchClock();
      meters.held(usage.hold().isPresent());
    } catch (RuntimeException e) {
      log.debug("The database's clock could not be read; the next look begins anew", e);
    } finally {
      plan();
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
