package dev.sessionkeeper.spring;

import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A thread that keeps the Java process alive while listeners run. Processors use virtual threads,
 * so an application without a web server would otherwise end after its {@code main} method.
 */
final class KeepAlive {
  private @Nullable CountDownLatch stopped;

  synchronized void start() {
    if (stopped != null) {
      return;
    }
    var latch = new CountDownLatch(1);
    stopped = latch;
    Thread.ofPlatform().daemon(false).name("keeper-keep-alive").start(() -> await(latch));
  }

  synchronized void stop() {
    if (stopped != null) {
      stopped.countDown();
      stopped = null;
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
