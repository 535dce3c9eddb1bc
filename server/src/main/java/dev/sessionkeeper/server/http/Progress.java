package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How far a request has come, and when the server gives it up.
 *
 * <p>Two threads meet here: the request's own, and the event loop that watches the time. I1: of
 * {@link Phase#ANSWERING}, {@link Phase#STREAMING} and {@link Phase#GIVEN_UP} a request enters one
 * at most from {@link Phase#SERVING}, so it has one answer.
 */
final class Progress {
  enum Phase {
    READING,
    SERVING,
    GIVEN_UP,
    ANSWERING,
    STREAMING
  }

  private static final long NEVER = Long.MAX_VALUE;

  private final ReentrantLock lock = new ReentrantLock();
  private Phase phase = Phase.READING;
  private long since;
  private long patience;

  /** A request begins to arrive, and has so long to do so. */
  Progress(long now, Duration patience) {
    this.since = now;
    this.patience = patience.toNanos();
  }

  /**
   * Enters the next phase, which may take so long; false when the request is not in {@code from}.
   */
  boolean move(Phase from, Phase to, long now, Duration most) {
    return move(from, to, now, most.toNanos());
  }

  /** Enters the next phase, which may take any time. */
  boolean move(Phase from, Phase to, long now) {
    return move(from, to, now, NEVER);
  }

  private boolean move(Phase from, Phase to, long now, long most) {
    lock.lock();
    try {
      if (phase != from) {
        return false;
      }
      phase = to;
      since = now;
      patience = most;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Gives the current phase so much more time. */
  void extend(Duration more) {
    lock.lock();
    try {
      patience = patience > NEVER - more.toNanos() ? NEVER : patience + more.toNanos();
    } finally {
      lock.unlock();
    }
  }

  Phase phase() {
    lock.lock();
    try {
      return phase;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the current phase has taken longer than it may. */
  boolean isLate(long now) {
    lock.lock();
    try {
      return now - since > patience;
    } finally {
      lock.unlock();
    }
  }
}
