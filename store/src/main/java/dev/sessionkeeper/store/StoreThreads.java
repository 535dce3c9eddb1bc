package dev.sessionkeeper.store;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that call the store on behalf of many callers.
 *
 * <p>Under load these are a few platform threads that are kept for a while: the kernel wakes one as
 * soon as its answer arrives. A virtual thread would be woken by a poller, then wait for a carrier
 * behind all runnable handlers, and its whole batch would wait with it. Without load virtual
 * threads are faster: carriers are free, and handing over to a platform thread would wait for the
 * kernel twice.
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

  /** Runs the task on another thread of the kind that suits the load. */
  public static void start(String name, boolean isUnderLoad, Runnable task) {
    if (isUnderLoad) {
      POOL.execute(task);
    } else {
      startVirtual(name, task);
    }
  }

  /**
   * Returns whether the current thread is virtual, so that under load another thread should run the
   * task.
   */
  public static boolean isTooLight() {
    return Thread.currentThread().isVirtual() && POOL.getActiveCount() < MOST;
  }

  private static void startVirtual(String name, Runnable task) {
    var unused = Thread.ofVirtual().name(name).start(task);
  }
}
