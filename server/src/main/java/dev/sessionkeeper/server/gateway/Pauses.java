package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Waits by the server's clock. */
final class Pauses {
  private Pauses() {}

  static void pause(TimeSource time, Duration duration) throws InterruptedException {
    var over = new CountDownLatch(1);
    var timer = time.schedule(duration, over::countDown);
    try {
      over.await();
    } finally {
      timer.cancel();
    }
  }
}
