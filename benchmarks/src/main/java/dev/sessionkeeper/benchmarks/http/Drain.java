package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Fills a queue, then measures how fast a way of consuming empties it. */
final class Drain {
  private static final int IN_A_CALL = 500;

  private Drain() {}

  /** Returns messages per second, from the first accept to the last confirmed completion. */
  static double rate(Way way, QueueName queue, int messages, int perSession) throws Exception {
    int sessions = Math.max(1, messages / perSession);
    for (int from = 0; from < messages; from += IN_A_CALL) {
      way.send(queue, messages(from, Math.min(messages, from + IN_A_CALL), sessions));
    }
    var done = new AtomicInteger();
    var handled = new AtomicInteger();
    Callable<Void> consumer =
        () -> {
          var consuming = way.consume(queue);
          while (handled.get() < messages) {
            consuming.step(body -> handled.incrementAndGet(), done::addAndGet);
          }
          consuming.end(done::addAndGet);
          return null;
        };
    long started = System.nanoTime();
    try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
      var all = new ArrayList<Callable<Void>>();
      for (int i = 0; i < way.consumers(); i++) {
        all.add(consumer);
      }
      for (var each : pool.invokeAll(all)) {
        each.get();
      }
    }
    if (done.get() != messages) {
      throw new IllegalStateException(way.name() + " completed " + done + " of " + messages);
    }
    return done.get() / ((System.nanoTime() - started) / 1e9);
  }

  private static List<Way.Outgoing> messages(int from, int to, int sessions) {
    var messages = new ArrayList<Way.Outgoing>(to - from);
    for (int i = from; i < to; i++) {
      messages.add(
          new Way.Outgoing(
              "bench/" + i % sessions,
              "{\"order\":" + i + ",\"item\":\"tea\",\"amount\":3,\"note\":\"by the window\"}"));
    }
    return messages;
  }
}
