package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forgets the events that are older than the retention, a little at a time. Several nodes may do so
 * at once.
 */
final class ForgetOldEvents implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ForgetOldEvents.class);
  private static final Duration EVERY = Duration.ofMinutes(1);
  private static final int AT_ONCE = 1_000;

  private final StreamLog streams;
  private final Duration retention;
  private final TimeSource time;
  private TimeSource.@Nullable Timer timer;
  private boolean closed;

  ForgetOldEvents(StreamLog streams, Duration retention, TimeSource time) {
    this.streams = streams;
    this.retention = retention;
    this.time = time;
    setTimer();
  }

  private synchronized void setTimer() {
    if (!closed) {
      timer = time.schedule(EVERY, () -> Thread.ofVirtual().name("forget-events").start(this::run));
    }
  }

  private void run() {
    try {
      int gone;
      do {
        gone = streams.forgetOlderThan(retention, AT_ONCE);
      } while (gone >= AT_ONCE && !isClosed());
    } catch (KeeperException e) {
      log.warn("Old events could not be forgotten; it is tried again: {}", e.getMessage());
    } finally {
      setTimer();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }
}
