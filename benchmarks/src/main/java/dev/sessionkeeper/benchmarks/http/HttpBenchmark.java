package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends and consumes over HTTP beside the provider used directly, in turn, on one database with
 * fsync. Client, server and provider share this process and its cores.
 *
 * <p>{@code HttpBenchmark [repetitions] [scale]}; at scale 1 a run takes about half a minute.
 */
public final class HttpBenchmark {
  private static final PrintStream OUT = System.out;

  private final List<Way> ways;
  private final Map<String, Map<String, List<Double>>> rates = new LinkedHashMap<>();
  private final AtomicInteger queues = new AtomicInteger();

  private HttpBenchmark(List<Way> ways) {
    this.ways = ways;
  }

  public static void main(String[] arguments) throws Exception {
    int repetitions = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
    double scale = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 1;
    try (var postgres = EmbeddedPostgres.temporary();
        var server = server(postgres);
        var direct =
            new DirectWay(PostgresQueueProvider.create(postgres.createDatabase("direct")));
        var http = new HttpWay(KeeperClient.of(URI.create(server.address())))) {
      var benchmark = new HttpBenchmark(List.of(direct, http));
      for (int i = 0; i <= repetitions; i++) {
        benchmark.round(scale, i > 0);
      }
      benchmark.print();
    }
  }

  private static KeeperServer server(EmbeddedPostgres postgres) throws Exception {
    var unused = postgres.createDatabase("http");
    var sources =
        new ConfigSources(
            "keeper.yaml",
            "",
            Path.of("").toAbsolutePath(),
            Map.of(
                "KEEPER_STORE_URL", postgres.jdbcUrl("http"),
                "KEEPER_STORE_USER", postgres.user(),
                "KEEPER_STORE_PASSWORD", postgres.password(),
                "KEEPER_SERVER_PORT", "0"),
            Map.of());
    return KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  private void round(double scale, boolean counts) throws Exception {
    int few = (int) (4_000 * scale);
    int many = (int) (40_000 * scale);
    for (var way : ways) {
      measure("send, 1 in a call, 32 threads", way, few, 32, counts, sending(way, 1));
    }
    for (var way : ways) {
      measure("send, 100 in a call, 8 threads", way, many, 8, counts, sending(way, 100));
    }
    for (int perSession : List.of(1, 10, 100)) {
      int messages = perSession == 1 ? few : many / 2;
      for (var way : ways) {
        measure(
            "lease, receive, settle, release; " + perSession + " in a session, 16 threads",
            way,
            messages,
            16,
            counts,
            consuming(way, messages, perSession));
      }
    }
  }

  /** A call of one of the threads; tells how many messages it was. */
  private interface Step {
    int run(int number) throws Exception;
  }

  private QueueName fresh(Way way) {
    var queue = QueueName.of("bench-" + queues.incrementAndGet());
    way.declare(queue);
    return queue;
  }

  private Step sending(Way way, int batch) {
    var queue = fresh(way);
    return number -> {
      way.send(queue, number * batch, 1000, batch);
      return batch;
    };
  }

  private Step consuming(Way way, int messages, int perSession) {
    var queue = fresh(way);
    int sessions = Math.max(1, messages / perSession);
    for (int from = 0; from < messages; from += 500) {
      way.send(queue, from, sessions, Math.min(500, messages - from));
    }
    return number -> way.consume(queue, 100);
  }

  private void measure(String cell, Way way, int messages, int threads, boolean counts, Step step)
      throws Exception {
    var next = new AtomicInteger();
    var done = new AtomicInteger();
    Callable<Void> worker =
        () -> {
          // Each takes its number before it works, so that none works in vain at the end.
          while (done.get() < messages) {
            done.addAndGet(step.run(next.getAndIncrement()));
          }
          return null;
        };
    long started = System.nanoTime();
    try (var pool = Executors.newFixedThreadPool(threads)) {
      var all = new ArrayList<Callable<Void>>();
      for (int i = 0; i < threads; i++) {
        all.add(worker);
      }
      for (var each : pool.invokeAll(all)) {
        each.get();
      }
    }
    if (counts) {
      rates
          .computeIfAbsent(cell, name -> new LinkedHashMap<>())
          .computeIfAbsent(way.name(), name -> new ArrayList<>())
          .add(done.get() / ((System.nanoTime() - started) / 1e9));
    }
  }

  private void print() {
    rates.forEach(
        (cell, byWay) -> {
          OUT.println(cell);
          double direct = median(byWay.getOrDefault("direct", List.of()));
          byWay.forEach(
              (way, all) ->
                  OUT.printf(
                      Locale.ROOT,
                      "  %-7s %,10.0f messages/s [%,.0f .. %,.0f]  %.2f of direct%n",
                      way,
                      median(all),
                      all.stream().mapToDouble(each -> each).min().orElse(0),
                      all.stream().mapToDouble(each -> each).max().orElse(0),
                      median(all) / direct));
        });
  }

  private static double median(List<Double> values) {
    var sorted = values.stream().sorted().toList();
    return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
  }
}
