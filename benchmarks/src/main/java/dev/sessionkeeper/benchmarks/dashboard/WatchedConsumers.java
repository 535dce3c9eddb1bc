package dev.sessionkeeper.benchmarks.dashboard;

import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.OUT;
import static dev.sessionkeeper.benchmarks.dashboard.DashboardBenchmark.QUEUE;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.spi.OperableSessions.Act;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Consumers under steady load: without watchers, with a Queue page that refreshes every second, and
 * after an operator's act. Watching may cost a tenth of the rate, and an act may be noticeable for
 * 15 seconds.
 */
final class WatchedConsumers {
  private static final int HANDLERS = 256;
  private static final int SENDERS = 4;
  private static final int BATCH = 20;
  private static final double LEAST = 0.9;
  private static final int BACK_WITHIN_SECONDS = 15;

  private final KeeperServer server;
  private final PostgresQueueProvider queues;
  private final int sessions;
  private final AtomicLong handled = new AtomicLong();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicBoolean isOver = new AtomicBoolean();

  WatchedConsumers(KeeperServer server, PostgresQueueProvider queues, int sessions) {
    this.server = server;
    this.queues = queues;
    this.sessions = sessions;
  }

  boolean run(int seconds) throws Exception {
    queues.declare(QUEUE, QueueSettings.ordered());
    try (var senders = Executors.newFixedThreadPool(SENDERS);
        var timer = Executors.newSingleThreadScheduledExecutor();
        var client = HttpClient.newHttpClient();
        var processor =
            SessionProcessor.builder(queues, QUEUE, (delivery, session) -> complete())
                .maxConcurrentSessions(HANDLERS)
                .build()) {
      processor.start();
      for (int i = 0; i < SENDERS; i++) {
        senders.execute(this::send);
      }
      rate(Math.max(5, seconds / 2)); // The first measurement warms up.
      double quiet = rate(seconds);
      var page =
          HttpRequest.newBuilder(URI.create(server.address() + "/ui/queues/" + QUEUE)).build();
      var watch = timer.scheduleAtFixedRate(() -> look(client, page), 0, 1, TimeUnit.SECONDS);
      double watched = rate(seconds);
      watch.cancel(false);
      double again = rate(seconds);
      double usual = (quiet + again) / 2;
      queues.act(QUEUE, LargeScreens.session(7), Act.RELEASE, "benchmark");
      int back = 0;
      while (back < 60 && rate(1) < LEAST * usual) {
        back++;
      }
      isOver.set(true);
      OUT.printf(
          Locale.ROOT,
          "quiet %,.0f and %,.0f messages/s, watched %,.0f (%.0f %%), back %d s after an act%n",
          quiet,
          again,
          watched,
          100 * watched / usual,
          back);
      return watched >= LEAST * usual && back <= BACK_WITHIN_SECONDS;
    }
  }

  private static void look(HttpClient client, HttpRequest page) {
    var unused = client.sendAsync(page, HttpResponse.BodyHandlers.discarding());
  }

  private Settlement complete() {
    handled.incrementAndGet();
    return Settlement.complete();
  }

  /** Keeps a bounded backlog, so that senders and consumers run at the same rate. */
  private void send() {
    while (!isOver.get()) {
      if (sent.get() - handled.get() > 50L * HANDLERS) {
        LockSupport.parkNanos(100_000);
        continue;
      }
      long first = sent.getAndAdd(BATCH);
      queues.send(
          QUEUE,
          IntStream.range(0, BATCH)
              .mapToObj(
                  i ->
                      Message.of(
                          LargeScreens.session((int) ((first + i) * 7919 % sessions)),
                          Payload.json("{}")))
              .toList());
    }
  }

  private double rate(int seconds) throws InterruptedException {
    long before = handled.get();
    long begin = System.nanoTime();
    TimeUnit.SECONDS.sleep(seconds);
    return (handled.get() - before) / ((System.nanoTime() - begin) / 1e9);
  }
}
