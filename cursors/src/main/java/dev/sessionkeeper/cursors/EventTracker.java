package dev.sessionkeeper.cursors;

import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.Outcome;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks which events a subscriber has acknowledged, and saves the point from which the subscriber
 * resumes.
 *
 * <p>Events of a stream are numbered without gaps, so the resume point is the last event before
 * which none is missing: acknowledging 7 before 6 saves nothing until 6 is acknowledged. I1: the
 * saved point never runs ahead of the acknowledged events. I2: the last acknowledged event is saved
 * even if no later one follows. Memory is bounded to {@value #WINDOW} events out of order.
 */
public final class EventTracker {
  /** The most events that may be acknowledged after a missing one. */
  public static final int WINDOW = 1024;

  private static final Logger log = LoggerFactory.getLogger(EventTracker.class);
  private static final Duration PAUSE_WHEN_FULL = Duration.ofMillis(100);

  private final ReentrantLock lock = new ReentrantLock();
  private final NavigableSet<Long> ahead = new TreeSet<>();
  private final CoalescingWriter<String, String> writer;
  private final TimeSource time;
  private final CursorKey key;
  private long point;
  private boolean retrying;

  EventTracker(
      CoalescingWriter<String, String> writer, TimeSource time, CursorKey key, long point) {
    this.writer = writer;
    this.time = time;
    this.key = key;
    this.point = point;
  }

  /** The result of an acknowledgement. */
  public enum Recorded {
    /** The event counts; the resume point may have moved. */
    NEW,
    /** The event was acknowledged before; nothing changed. */
    DUPLICATE,
    /** Too many events are missing before this one, which does not count. */
    TOO_FAR_AHEAD
  }

  /** Saves the point at which the subscriber begins, unless a later one is stored. */
  public void begin() {
    save();
  }

  /** Acknowledges an event. Call this after the event was delivered, never before. */
  public Recorded acknowledge(long event) {
    lock.lock();
    try {
      if (event <= point || ahead.contains(event)) {
        return Recorded.DUPLICATE;
      }
      if (event - point > WINDOW) {
        return Recorded.TOO_FAR_AHEAD;
      }
      ahead.add(event);
      if (event > point + 1) {
        return Recorded.NEW;
      }
      moveOn();
    } finally {
      lock.unlock();
    }
    save();
    return Recorded.NEW;
  }

  /** Acknowledges all events up to this one, including events that were deleted. */
  public void acknowledgeUpTo(long event) {
    lock.lock();
    try {
      if (event <= point) {
        return;
      }
      point = event;
      ahead.headSet(event, true).clear();
      moveOn();
    } finally {
      lock.unlock();
    }
    save();
  }

  private void moveOn() {
    while (!ahead.isEmpty() && ahead.first() == point + 1) {
      point = ahead.removeFirst();
    }
  }

  /**
   * Returns the last event before which none is missing; the subscriber resumes with the next one.
   */
  public long resumePoint() {
    lock.lock();
    try {
      return point;
    } finally {
      lock.unlock();
    }
  }

  private void save() {
    long version = resumePoint();
    writer.submit(key.asText(), version, Long.toString(version)).thenAccept(this::saved);
  }

  private void saved(Outcome outcome) {
    switch (outcome) {
      case Outcome.Durable d -> {}
      case Outcome.Superseded s -> {}
      case Outcome.Rejected refused -> rejected(refused.why());
      case Outcome.NotFound n -> log.warn("The cursor {} does not exist; it is not saved", key);
      case Outcome.Dead dead -> log.warn("The cursor {} cannot be saved: {}", key, dead.cause());
      case Outcome.Undrained u ->
          log.warn(
              "The cursor {} was not saved before the end; its events will be delivered again",
              key);
    }
  }

  /**
   * Retries until the writer accepts the point, because no later event may follow that would save
   * it.
   */
  private void rejected(Outcome.Why why) {
    if (why == Outcome.Why.CLOSED || why == Outcome.Why.TOO_LARGE) {
      log.warn("The cursor {} was not saved ({}); its events will be delivered again", key, why);
      return;
    }
    lock.lock();
    try {
      if (retrying) {
        return;
      }
      retrying = true;
    } finally {
      lock.unlock();
    }
    // The writer may block its callers, but a timer must not block.
    time.schedule(PAUSE_WHEN_FULL, () -> Thread.startVirtualThread(this::saveAgain));
  }

  private void saveAgain() {
    lock.lock();
    try {
      retrying = false;
    } finally {
      lock.unlock();
    }
    save();
  }
}
