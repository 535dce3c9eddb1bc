package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The phase of a request, and when the server gives it up.
 *
 * <p>Two threads use it: the request's own thread, and the event loop that enforces deadlines. I1:
 * after {@link Phase#SERVING} a request enters at most one of {@link Phase#ANSWERING}, {@link
 * Phase#STREAMING} and {@link Phase#GIVEN_UP}, so it has one answer.
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

  /** Starts with a request that must arrive within the given patience. */
  Progress(long now, Duration patience) {
    this.since = now;
    this.patience = patience.toNanos();
  }

  /**
   * Enters the next phase, with a time limit. Returns false if the request is not in {@code from}.
   */
  boolean move(Phase from, Phase to, long now, Duration most) {
    return move(from, to, now, most.toNanos());
  }

  /** Enters the next phase, without a time limit. */
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

  /** Extends the current phase. */
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

  /** Returns whether the current phase has exceeded its time limit. */
  boolean isLate(long now) {
    lock.lock();
    try {
      return now - since > patience;
    } finally {
      lock.unlock();
    }
  }
}
