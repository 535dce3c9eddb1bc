package dev.sessionkeeper.server.streams;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The newest events of one stream, shared by all its readers.
 *
 * <p>Bounded in events and bytes: a reader that falls behind reads pages from the log until it has
 * caught up. I1: the events are consecutive and end with {@code last}.
 */
final class Tail {
  private static final int MAX_EVENTS = 1_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition grown = lock.newCondition();
  private final Deque<Frame> frames = new ArrayDeque<>();
  private final String stream;
  private long last;
  private long bytes;
  private long maxBytes = Long.MAX_VALUE;

  Tail(String stream, long last) {
    this.stream = stream;
    this.last = last;
  }

  String stream() {
    return stream;
  }

  long last() {
    lock.lock();
    try {
      return last;
    } finally {
      lock.unlock();
    }
  }

  /** Adds events that follow the last one, and wakes the readers. */
  void add(List<StreamEvent> events) {
    lock.lock();
    try {
      for (var event : events) {
        add(Frame.of(event));
      }
      grown.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Keeps at most so many bytes from now on. */
  void bound(long most) {
    lock.lock();
    try {
      maxBytes = most;
      trim();
    } finally {
      lock.unlock();
    }
  }

  private void add(Frame frame) {
    if (frame.id() != last + 1) {
      // Retention deleted events before they were read here. Readers find the gap when they read
      // the log.
      frames.clear();
      bytes = 0;
    }
    frames.addLast(frame);
    last = frame.id();
    bytes += frame.bytes().length;
    trim();
  }

  private void trim() {
    while (frames.size() > MAX_EVENTS || bytes > maxBytes) {
      bytes -= frames.removeFirst().bytes().length;
    }
  }

  /**
   * Returns the events after one event: up to so many bytes, but at least one event if there is
   * one.
   *
   * @return empty if the reader has fallen behind and must read the log
   */
  Optional<List<Frame>> after(long id, long maxBytes) {
    lock.lock();
    try {
      if (id >= last) {
        return Optional.of(List.of());
      }
      if (id + 1 < last - frames.size() + 1) {
        return Optional.empty();
      }
      var next = new ArrayList<Frame>();
      long size = 0;
      for (var frame : frames) {
        if (frame.id() > id) {
          size += frame.bytes().length;
          if (size > maxBytes && !next.isEmpty()) {
            break;
          }
          next.add(frame);
        }
      }
      return Optional.of(next);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for an event after this one. Returns false if none comes in time. */
  boolean await(long id, Duration most) throws InterruptedException {
    lock.lock();
    try {
      long left = most.toNanos();
      while (last <= id && left > 0) {
        left = grown.awaitNanos(left);
      }
      return last > id;
    } finally {
      lock.unlock();
    }
  }
}
