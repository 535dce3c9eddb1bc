package dev.sessionkeeper.benchmarks;

import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** The bare baseline: a deque per key and an executor; no leases, no settlement, no fairness. */
final class BareDequeArm implements Arm {
  private static final int TURN = 32;

  private final int threads;

  BareDequeArm(int threads) {
    this.threads = threads;
  }

  @Override
  public String name() {
    return "bare deque + executor";
  }

  @Override
  public long run(Load load) {
    var counted = new LongAdder();
    var payload = new byte[256];
    try (var executor = Executors.newFixedThreadPool(threads)) {
      var lanes = new Lane[load.sessions()];
      for (int i = 0; i < lanes.length; i++) {
        lanes[i] = new Lane(executor, counted);
      }
      if (!load.together()) {
        for (int i = 0; i < load.messages(); i++) {
          lanes[i % lanes.length].waiting.add(payload);
        }
      }
      long started = System.nanoTime();
      if (load.together()) {
        for (int i = 0; i < load.messages(); i++) {
          lanes[i % lanes.length].add(payload);
        }
      } else {
        for (var lane : lanes) {
          lane.schedule();
        }
      }
      while (counted.sum() < load.messages()) {
        LockSupport.parkNanos(200_000);
      }
      return System.nanoTime() - started;
    }
  }

  private static final class Lane implements Runnable {
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();
    private final ExecutorService executor;
    private final LongAdder counted;
    private boolean scheduled;

    Lane(ExecutorService executor, LongAdder counted) {
      this.executor = executor;
      this.counted = counted;
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
      for (int i = 0; i < TURN; i++) {
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
