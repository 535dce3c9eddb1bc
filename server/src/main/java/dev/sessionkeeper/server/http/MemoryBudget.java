package dev.sessionkeeper.server.http;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds the bytes that all requests of a server hold at one time.
 *
 * <p>Each request takes its bytes through a {@link Share} and gives them back by closing it. The
 * last quarter of the budget is for shares of up to {@link #SMALL} bytes: a few large uploads do
 * not keep small requests out. I1: the bytes of a share are released exactly once. Threads: any.
 */
final class MemoryBudget {
  /** The most bytes of a share that may use the last quarter. */
  static final long SMALL = 64 << 10;

  private final ReentrantLock lock = new ReentrantLock();
  private final long capacity;
  private long taken;

  MemoryBudget(long capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity must be at least 1 byte, was " + capacity);
    }
    this.capacity = capacity;
  }

  /** Opens a share that holds nothing yet. */
  Share open() {
    return new Share();
  }

  /** The bytes that are taken now. */
  long taken() {
    lock.lock();
    try {
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private long freeFor(long shareBytes) {
    return (shareBytes <= SMALL ? capacity : capacity - capacity / 4) - taken;
  }

  /** The bytes of one request. A closed share takes nothing any more. */
  final class Share implements AutoCloseable {
    private long held;
    private boolean closed;

    /** Takes more bytes; false when the budget does not have them, and then it takes none. */
    boolean grow(long bytes) {
      lock.lock();
      try {
        return resize(held + bytes);
      } finally {
        lock.unlock();
      }
    }

    /** Holds just so many bytes; false when the budget does not have them. */
    boolean resizeTo(long bytes) {
      lock.lock();
      try {
        return resize(bytes);
      } finally {
        lock.unlock();
      }
    }

    /**
     * Holds what is free, from {@code least} to {@code most} bytes and at most an eighth of the
     * budget: what is made of these bytes may be longer than they are.
     *
     * @return how many bytes it holds; 0 if less than {@code least} are free
     */
    long takeUpTo(long least, long most) {
      lock.lock();
      try {
        long large = freeFor(Long.MAX_VALUE) + held;
        long small = Math.min(SMALL, freeFor(SMALL) + held);
        long bytes = Math.min(Math.min(most, capacity / 8), Math.max(large, small));
        return bytes >= least && resize(bytes) ? bytes : 0;
      } finally {
        lock.unlock();
      }
    }

    private boolean resize(long bytes) {
      long more = bytes - held;
      if (closed || (more > 0 && more > freeFor(bytes))) {
        return false;
      }
      taken += more;
      held = bytes;
      return true;
    }

    /** Gives everything back. Closing twice does nothing. */
    @Override
    public void close() {
      lock.lock();
      try {
        resize(0);
        closed = true;
      } finally {
        lock.unlock();
      }
    }
  }
}
