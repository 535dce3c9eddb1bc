package dev.sessionkeeper.store;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that go to the store on behalf of many callers.
 *
 * <p>Under load these are platform threads, few and kept for a while: the kernel wakes one the
 * moment its answer is there. A virtual thread is woken by a poller and then waits for a carrier,
 * behind all the handlers that are ready to run, and everybody in its group waits with it. Without
 * load it is the other way round: carriers are free, and one that hands over to a platform thread
 * waits for the kernel twice.
 */
public final class StoreThreads {
  private static final int MOST = 32;
  private static final long KEPT_SECONDS = 10;

  private static final ThreadPoolExecutor POOL =
      new ThreadPoolExecutor(
          0,
          MOST,
          KEPT_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Thread.ofPlatform().daemon().name("keeper-store-", 0).factory(),
          (task, pool) -> startVirtual("keeper-store", task));

  private StoreThreads() {}

  /** Runs the task on another thread: one that suits the load. */
  public static void start(String name, boolean isUnderLoad, Runnable task) {
    if (isUnderLoad) {
      POOL.execute(task);
    } else {
      startVirtual(name, task);
    }
  }

  /** Returns whether who is under load had better go on with another thread. */
  public static boolean isTooLight() {
    return Thread.currentThread().isVirtual() && POOL.getActiveCount() < MOST;
  }

  private static void startVirtual(String name, Runnable task) {
    var unused = Thread.ofVirtual().name(name).start(task);
  }
}
