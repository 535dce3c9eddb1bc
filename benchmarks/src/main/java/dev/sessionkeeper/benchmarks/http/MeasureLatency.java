package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/** Sends at a steady rate and measures when each message reaches a handler. */
final class MeasureLatency {
  private static final int SESSIONS = 200;
  private static final int SENDERS = 4;

  private MeasureLatency() {}

  /** Returns the median in milliseconds from the send to the handler. */
  static double median(Way way, QueueName queue, int perSecond, int messages) throws Exception {
    var sentAt = new AtomicLongArray(messages);
    var took = new AtomicLongArray(messages);
    var handled = new AtomicInteger();
    Callable<Void> consumer =
        () -> {
          var consuming = way.consume(queue);
          while (handled.get() < messages) {
            consuming.step(
                body -> {
                  int number = Integer.parseInt(body.get());
                  if (took.compareAndSet(number, 0, System.nanoTime() - sentAt.get(number))) {
                    handled.incrementAndGet();
                  }
                },
                count -> {});
          }
          consuming.end(count -> {});
          return null;
        };
    try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
      var consumers =
          java.util.stream.IntStream.range(0, way.consumers())
              .mapToObj(i -> pool.submit(consumer))
              .toList();
      send(way, queue, perSecond, sentAt);
      for (var each : consumers) {
        each.get();
      }
    }
    var all = new long[messages];
    Arrays.setAll(all, took::get);
    Arrays.sort(all);
    return all[messages / 2] / 1e6;
  }

  /**
   * Sends with several threads that share the rate, so that one slow answer does not delay the
   * others.
   */
  private static void send(Way way, QueueName queue, int perSecond, AtomicLongArray sentAt)
      throws Exception {
    long started = System.nanoTime();
    long apart = 1_000_000_000L / perSecond;
    var next = new AtomicInteger();
    Callable<Void> sender =
        () -> {
          for (int i = next.getAndIncrement(); i < sentAt.length(); i = next.getAndIncrement()) {
            for (long left = started + i * apart - System.nanoTime();
                left > 0;
                left = started + i * apart - System.nanoTime()) {
              LockSupport.parkNanos(left);
            }
            sentAt.set(i, System.nanoTime());
            way.send(queue, List.of(new Way.Outgoing("bench/" + i % SESSIONS, "" + i)));
          }
          return null;
        };
    try (var pool = Executors.newFixedThreadPool(SENDERS)) {
      for (var each : pool.invokeAll(java.util.Collections.nCopies(SENDERS, sender))) {
        each.get();
      }
    }
  }
}
