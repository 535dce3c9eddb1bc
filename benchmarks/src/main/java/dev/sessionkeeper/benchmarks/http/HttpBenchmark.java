package dev.sessionkeeper.benchmarks.http;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Compares consuming over HTTP with direct use of the provider, in turn, on one PostgreSQL with
 * fsync. The server is a process of its own; consumers of all ways run in this process.
 *
 * <p>Direct use has 16 consumers with one held session each, and 128 for comparison, because the
 * four consumers of {@code work} hold that many. <i>Provider</i> is the Java provider over HTTP.
 *
 * <p>{@code HttpBenchmark [repetitions] [scale] [cell…]}; cells are {@code 1}, {@code 10}, {@code
 * 100} messages in a session, and {@code latency}. At scale 1 a repetition takes about 20 seconds.
 */
public final class HttpBenchmark {
  private static final PrintStream OUT = System.out;
  private static final String LATENCY = "latency";
  private static final List<String> CELLS = List.of("1", "10", "100", LATENCY);

  /**
   * Rounds that do not count, because a server that has just started compiles its code for some
   * seconds.
   */
  private static final int WARM_UPS = 3;

  private final List<Way> ways;
  private final Map<String, Map<String, List<Double>>> figures = new LinkedHashMap<>();
  private final AtomicInteger queues = new AtomicInteger();

  private HttpBenchmark(List<Way> ways) {
    var wanted = List.of(System.getProperty("ways", "").split("/"));
    this.ways =
        ways.stream().filter(way -> wanted.stream().anyMatch(way.name()::startsWith)).toList();
  }

  public static void main(String[] arguments) throws Exception {
    int repetitions = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
    double scale = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 1;
    var log = Files.createTempFile("keeper-http-benchmark", ".log");
    try (var postgres = EmbeddedPostgres.temporary()) {
      var unused = postgres.createDatabase("http");
      try (var server = ServerChild.start(postgres, "http", log);
          var provider = PostgresQueueProvider.create(postgres.createDatabase("direct"))) {
        var address = ServerChild.addressOf(server);
        try (var calls = new HttpCalls(address);
            var client = KeeperClient.of(URI.create(address))) {
          var benchmark =
              new HttpBenchmark(
                  List.of(
                      new DirectWay("direct", provider, 16),
                      new DirectWay("direct, 128", provider, 128),
                      new WorkWay(calls, 4, 32, "PT0.1S"),
                      new DirectWay("provider", ServerQueueProvider.over(client), 16),
                      new DirectWay("provider, 128", ServerQueueProvider.over(client), 128),
                      new SingleCallsWay(client, calls)));
          var cells =
              arguments.length > 2 ? List.of(arguments).subList(2, arguments.length) : CELLS;
          for (int i = 0; i < WARM_UPS + repetitions; i++) {
            benchmark.round(cells, scale, i >= WARM_UPS);
          }
          benchmark.print();
        }
        server.leave();
        server.awaitEnd(Duration.ofSeconds(20));
      }
    }
  }

  private void round(List<String> cells, double scale, boolean counts) throws Exception {
    for (var cell : cells) {
      for (var way : ways) {
        if (cell.equals(LATENCY)) {
          var title = "send to handler at 500 messages/s, p50 in ms";
          int messages = (int) (2_000 * scale);
          add(title, way, MeasureLatency.median(way, fresh(way), 500, messages), counts);
        } else {
          int perSession = Integer.parseInt(cell);
          boolean isSlow = way instanceof SingleCallsWay;
          int messages = (int) ((isSlow ? 2_000 : perSession == 1 ? 20_000 : 100_000) * scale);
          var title = perSession + " in a session, messages/s";
          add(title, way, Drain.rate(way, fresh(way), messages, perSession), counts);
        }
      }
    }
  }

  private QueueName fresh(Way way) {
    var queue = QueueName.of("bench-" + queues.incrementAndGet());
    way.declare(queue);
    return queue;
  }

  private void add(String cell, Way way, double figure, boolean counts) {
    OUT.printf(
        Locale.ROOT, "%s%s: %s %,.1f%n", counts ? "" : "(warm-up) ", cell, way.name(), figure);
    if (counts) {
      figures
          .computeIfAbsent(cell, name -> new LinkedHashMap<>())
          .computeIfAbsent(way.name(), name -> new ArrayList<>())
          .add(figure);
    }
  }

  private void print() {
    figures.forEach(
        (cell, byWay) -> {
          OUT.println(cell);
          double direct = median(byWay.getOrDefault("direct", List.of()));
          byWay.forEach(
              (way, all) ->
                  OUT.printf(
                      Locale.ROOT,
                      "  %-13s %,10.1f [%,.1f .. %,.1f]  %.2f of direct%n",
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
