package dev.sessionkeeper.benchmarks;

import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The minimal baseline: a deque per key and an executor; no leases, no settlement, no retries.
 *
 * <p>With one message per turn it is, per key, the serial executor in the documentation of {@link
 * java.util.concurrent.Executor}; with more messages it is as fast as such a design can be.
 */
final class BareDequeArm implements Arm {
  private final int threads;
  private final int turn;

  BareDequeArm(int threads, int turn) {
    this.threads = threads;
    this.turn = turn;
  }

  @Override
  public String name() {
    return "bare deque, " + turn + " per turn";
  }

  @Override
  public Took run(Load load) {
    var counted = new LongAdder();
    var payload = new byte[256];
    try (var executor = executor()) {
      var deques = new KeyDeque[load.sessions()];
      for (int i = 0; i < deques.length; i++) {
        deques[i] = new KeyDeque(executor, counted, turn);
      }
      if (!load.together()) {
        for (int i = 0; i < load.messages(); i++) {
          deques[i % deques.length].waiting.add(payload);
        }
      }
      System.gc();
      var started = Took.now();
      if (load.together()) {
        for (int i = 0; i < load.messages(); i++) {
          deques[i % deques.length].add(payload);
        }
      } else {
        for (var deque : deques) {
          deque.schedule();
        }
      }
      while (counted.sum() < load.messages()) {
        LockSupport.parkNanos(200_000);
      }
      return started.since();
    }
  }

  /**
   * Returns an executor that ignores tasks after the end of the run, because a late task is no
   * failure.
   */
  private ExecutorService executor() {
    return new ThreadPoolExecutor(
        threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new DiscardPolicy());
  }

  private static final class KeyDeque implements Runnable {
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();
    private final ExecutorService executor;
    private final LongAdder counted;
    private final int turn;
    private boolean scheduled;

    KeyDeque(ExecutorService executor, LongAdder counted, int turn) {
      this.executor = executor;
      this.counted = counted;
      this.turn = turn;
    }

    void add(byte[] message) {
      lock.lock();
      try {
        waiting.add(message);
        if (scheduled) {
          return;
        }
        scheduled = true;
      } finally {
        lock.unlock();
      }
      executor.execute(this);
    }

    void schedule() {
      scheduled = true;
      executor.execute(this);
    }

    @Override
    public void run() {
      for (int i = 0; i < turn; i++) {
        lock.lock();
        try {
          if (waiting.poll() == null) {
            scheduled = false;
            return;
          }
        } finally {
          lock.unlock();
        }
        counted.increment();
      }
      executor.execute(this);
    }
  }
}
