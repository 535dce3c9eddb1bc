package dev.sessionkeeper.benchmarks.gateway;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.nio.file.Files;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures deliveries per second with signature check, durable commit and three matching bots, and
 * in turn bare durable inserts of the same bytes.
 */
public final class IntakeBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int THREADS = 32;
  private static final int[] RATES = {100, 1_000};
  private static final String BOTS =
      """
      bots:
        - { name: entity, events: ["*"], ordering_scope: entity }
        - { name: second, events: ["pull_request.*"], repositories: ["acme/*"], ordering_scope: entity, join_checks: true }
        - { name: plain, events: ["pull_request"], ordering_scope: none }
      """;

  private IntakeBenchmark() {}

  /** One request of a client. */
  @FunctionalInterface
  private interface Step {
    void run(int number) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    int deliveries = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5_000;
    int repetitions = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
    int seconds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 20;
    var data = Files.createTempDirectory("keeper-benchmark-");
    try (var load = new GitHubLoad(data, BOTS);
        var bare = EmbeddedPostgres.temporary()) {
      prepare(bare);
      for (int i = 0; i <= repetitions; i++) {
        OUT.println(i == 0 ? "warm-up" : "run " + i);
        double inserts = report("bare inserts", deliveries, inserting(bare));
        double intake = report("intake, three bots", deliveries, n -> load.deliver(n % 500, n));
        OUT.printf(Locale.ROOT, "  intake : bare inserts = %.2f%n", intake / inserts);
      }
      for (int rate : RATES) {
        atRate(rate, seconds, load);
      }
    }
  }

  private static void prepare(EmbeddedPostgres bare) throws Exception {
    try (var connection = bare.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes bytea)");
    }
  }

  private static Step inserting(EmbeddedPostgres bare) {
    var idle = new ConcurrentLinkedQueue<Connection>();
    return number -> {
      var free = idle.poll();
      var connection = free == null ? bare.dataSource().getConnection() : free;
      try (var insert = connection.prepareStatement("INSERT INTO bare (bytes) VALUES (?)")) {
        insert.setBytes(1, GitHubLoad.payload(number % 500, number, 10_000));
        insert.executeUpdate();
      }
      idle.add(connection);
    };
  }

  private static double report(String name, int count, Step step) throws Exception {
    var next = new AtomicInteger();
    var waits = Collections.synchronizedList(new ArrayList<Long>(count));
    long started = System.nanoTime();
    try (var threads = Executors.newFixedThreadPool(THREADS)) {
      var workers = new ArrayList<Callable<Void>>();
      for (int i = 0; i < THREADS; i++) {
        workers.add(
            () -> {
              for (int number = next.getAndIncrement();
                  number < count;
                  number = next.getAndIncrement()) {
                long begun = System.nanoTime();
                step.run(number);
                waits.add(System.nanoTime() - begun);
              }
              return null;
            });
      }
      for (var worker : threads.invokeAll(workers)) {
        worker.get();
      }
    }
    double rate = count / ((System.nanoTime() - started) / 1e9);
    print(name, rate, waits);
    return rate;
  }

  private static void print(String name, double rate, List<Long> waits) {
    var sorted = waits.stream().sorted().toList();
    OUT.printf(
        Locale.ROOT,
        "  %-20s %,8.0f /s  p50 %.1f ms  p95 %.1f ms  p99 %.1f ms  longest %.1f ms%n",
        name,
        rate,
        at(sorted, 0.5),
        at(sorted, 0.95),
        at(sorted, 0.99),
        at(sorted, 1));
  }

  /**
   * Makes a fixed number of deliveries each second, whether or not earlier ones are answered; the
   * wait of each counts from its scheduled time.
   */
  private static void atRate(int rate, int seconds, GitHubLoad load) throws Exception {
    int count = rate * seconds;
    var waits = Collections.synchronizedList(new ArrayList<Long>(count));
    long started = System.nanoTime();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var all = new ArrayList<Future<Void>>(count);
      for (int i = 0; i < count; i++) {
        int number = i;
        long due = started + i * 1_000_000_000L / rate;
        LockSupport.parkNanos(due - System.nanoTime());
        all.add(
            threads.submit(
                () -> {
                  load.deliver(number % 500, number);
                  waits.add(System.nanoTime() - due);
                  return null;
                }));
      }
      for (var one : all) {
        one.get();
      }
    }
    print(rate + " each second", count / ((System.nanoTime() - started) / 1e9), waits);
  }

  private static double at(List<Long> sorted, double part) {
    return sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * part)) / 1e6;
  }
}
