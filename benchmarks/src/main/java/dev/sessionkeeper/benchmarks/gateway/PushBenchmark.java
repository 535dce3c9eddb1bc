package dev.sessionkeeper.benchmarks.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * Pushes many pull requests with many events each to an endpoint that fails one request in five,
 * beside two healthy bots, one whose endpoint never answers and one whose endpoint takes seconds.
 * Checks the order of every pull request; exits with 1 if it was wrong anywhere.
 */
public final class PushBenchmark {
  private static final PrintStream OUT = System.out;
  private static final Pattern STEP = Pattern.compile("\"number\":(\\d+),\"step\":(\\d+)");
  private static final double FAILING = 0.2;

  private final Map<Integer, List<Integer>> accepted = new ConcurrentHashMap<>();
  private final AtomicInteger posts = new AtomicInteger();
  private final CountDownLatch left;
  private final CountDownLatch never = new CountDownLatch(1);

  private PushBenchmark(int messages) {
    left = new CountDownLatch(messages);
  }

  public static void main(String[] arguments) throws Exception {
    int pulls = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000;
    int events = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 20;
    OUT.println("warm-up");
    new PushBenchmark(pulls).run(pulls / 5, 5, false);
    double healthy = new PushBenchmark(pulls * events).run(pulls, events, false);
    double sick = new PushBenchmark(pulls * events).run(pulls, events, true);
    OUT.printf(
        Locale.ROOT, "beside a dead and a slow bot : beside healthy ones = %.2f%n", sick / healthy);
    System.exit(0);
  }

  private double run(int pulls, int events, boolean sick) throws Exception {
    var receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    receiver.createContext("/flaky", this::flaky);
    receiver.createContext("/healthy", exchange -> answerAfter(exchange, 0));
    receiver.createContext("/dead", exchange -> answerAfter(exchange, Long.MAX_VALUE));
    receiver.createContext("/slow", exchange -> answerAfter(exchange, 3));
    receiver.start();
    var address = "http://127.0.0.1:" + receiver.getAddress().getPort();
    var bots = bots(address, sick);
    try (var load = new GitHubLoad(Files.createTempDirectory("keeper-benchmark-"), bots)) {
      long started = System.nanoTime();
      for (int step = 0; step < events; step++) {
        send(load, pulls, step);
      }
      double intake = seconds(started);
      left.await();
      double all = seconds(started);
      OUT.printf(
          Locale.ROOT,
          "%s: %,d events taken in after %.1f s, all pushed after %.1f s (%,.0f /s) with %,d requests%n",
          sick ? "beside a dead and a slow bot" : "beside two healthy bots",
          pulls * events,
          intake,
          all,
          pulls * events / all,
          posts.get());
      check(events);
      return pulls * events / all;
    } finally {
      never.countDown();
      receiver.stop(0);
    }
  }

  private void check(int events) {
    long wrong = accepted.values().stream().filter(steps -> !isInOrder(steps, events)).count();
    if (wrong > 0) {
      OUT.println(wrong + " pull requests OUT OF ORDER");
      System.exit(1);
    }
    OUT.println("  each of " + accepted.size() + " pull requests in order, every event once");
  }

  /**
   * Sends one event of every pull request; events of one pull request are sent one after the other.
   */
  private static void send(GitHubLoad load, int pulls, int step) throws Exception {
    try (var threads = Executors.newFixedThreadPool(32)) {
      var all = new ArrayList<Future<?>>();
      for (int pull = 0; pull < pulls; pull++) {
        int number = pull;
        all.add(
            threads.submit(
                () -> {
                  load.deliver(number, step);
                  return true;
                }));
      }
      for (var one : all) {
        one.get();
      }
    }
  }

  private void flaky(HttpExchange exchange) throws IOException {
    var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    posts.incrementAndGet();
    boolean fails = ThreadLocalRandom.current().nextDouble() < FAILING;
    var found = STEP.matcher(body);
    if (!fails && found.find()) {
      accepted
          .computeIfAbsent(
              Integer.valueOf(found.group(1)), n -> Collections.synchronizedList(new ArrayList<>()))
          .add(Integer.valueOf(found.group(2)));
    }
    exchange.sendResponseHeaders(fails ? 500 : 200, -1);
    exchange.close();
    if (!fails) {
      left.countDown();
    }
  }

  private void answerAfter(HttpExchange exchange, long seconds) throws IOException {
    try {
      if (!never.await(seconds, TimeUnit.SECONDS)) {
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(200, -1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }

  private static boolean isInOrder(List<Integer> steps, int events) {
    for (int i = 0; i < events; i++) {
      if (steps.size() != events || steps.get(i) != i) {
        return false;
      }
    }
    return true;
  }

  private static String bots(String address, boolean sick) {
    return """
        bots:
          - name: flaky
            events: ["pull_request"]
            max_concurrent_sessions: 500
            max_delivery_count: 100
            session_idle_timeout: 1s
            deliver: { url: "%s/flaky", timeout: 10s, allow_private_targets: true }
          - name: second
            events: ["pull_request"]
            max_concurrent_sessions: 50
            deliver: { url: "%s/%s", timeout: 2s, allow_private_targets: true }
          - name: third
            events: ["pull_request"]
            max_concurrent_sessions: 50
            deliver: { url: "%s/%s", timeout: 10s, allow_private_targets: true }
        """
        .formatted(address, address, sick ? "dead" : "healthy", address, sick ? "slow" : "healthy");
  }

  private static double seconds(long started) {
    return (System.nanoTime() - started) / 1e9;
  }
}
