package dev.sessionkeeper.server.http;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Bounds the memory that all requests of a server hold at one time.
 *
 * <p>Each request reserves bytes through a {@link Share} and releases them by closing it. The last
 * quarter of the budget is reserved for shares of up to {@link #SMALL} bytes, so a few large
 * uploads do not block small requests. I1: the bytes of a share are released exactly once. Threads:
 * any.
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

  /** Returns the bytes in use. */
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

  /** The bytes of one request. A closed share can take no more. */
  final class Share implements AutoCloseable {
    private long held;
    private boolean closed;

    /** Takes more bytes. Returns false, and takes none, if the budget does not have them. */
    boolean grow(long bytes) {
      lock.lock();
      try {
        return resize(held + bytes);
      } finally {
        lock.unlock();
      }
    }

    /**
     * Changes the share to exactly so many bytes. Returns false if the budget does not have them.
     */
    boolean resizeTo(long bytes) {
      lock.lock();
      try {
        return resize(bytes);
      } finally {
        lock.unlock();
      }
    }

    /**
     * Takes the free bytes, from {@code least} to {@code most} and at most an eighth of the budget,
     * because an encoded answer may be larger than the values in it.
     *
     * @return how many bytes the share holds; 0 if less than {@code least} are free
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

    /** Releases all bytes. Closing twice does nothing. */
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
