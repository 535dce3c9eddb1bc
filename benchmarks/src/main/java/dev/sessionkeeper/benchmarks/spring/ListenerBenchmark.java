package dev.sessionkeeper.benchmarks.spring;

import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.jackson.JacksonCodec;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.TypedHandler;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Compares a listener of the Spring Boot starter with a processor without Spring: the same JSON
 * bodies, codec and options. Messages are sent before; draining them is measured. Contenders take
 * turns in one process, each with a provider and a queue of its own. An observed listener is
 * compared with a processor that has the same meters and the same observation, written by hand.
 *
 * <p>{@code ListenerBenchmark [repetitions] [messages]}. The goal: a listener takes at most 10 %
 * more than the bare processor of its group.
 */
public final class ListenerBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int SESSIONS = 1000;
  private static final int BATCH = 500;
  private static final int WARM_UPS = 3;
  private static final JacksonCodec<Order> ORDERS = JacksonCodec.of(Order.class);

  private final int repetitions;
  private final int messages;
  private final Map<String, List<Turn>> turns = new LinkedHashMap<>();

  /** The cost of one turn per message. */
  private record Turn(double wallNanos, double cpuNanos) {}

  private ListenerBenchmark(int repetitions, int messages) {
    this.repetitions = repetitions;
    this.messages = messages;
  }

  public static void main(String[] arguments) throws Exception {
    int repetitions = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    int messages = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 200_000;
    var benchmark = new ListenerBenchmark(repetitions, messages);
    benchmark.inMemory();
    benchmark.inPostgres();
    // Remaining threads of the benchmark's applications must not delay the result.
    System.exit(0);
  }

  private void inMemory() throws Exception {
    try (var bare =
            BareProcessor.of(
                "memory bare",
                MemoryQueueProvider.create(),
                name("bare"),
                ListenerBenchmark::counting);
        var listener = StarterListener.memory("memory listener", false)) {
      compare(List.of(bare, listener), messages);
    }
    try (var bare =
            BareProcessor.observed(
                "memory bare observed",
                MemoryQueueProvider.create(),
                name("bare-observed"),
                ListenerBenchmark::counting);
        var listener = StarterListener.memory("memory listener observed", true)) {
      compare(List.of(bare, listener), messages);
    }
  }

  private void inPostgres() throws Exception {
    try (var postgres = EmbeddedPostgres.temporary()) {
      try (var bareSource = pool(postgres, "bare");
          var listenerSource = pool(postgres, "listener");
          var bare =
              BareProcessor.of(
                  "postgres bare",
                  PostgresQueueProvider.create(bareSource),
                  name("bare"),
                  ListenerBenchmark::counting);
          var listener = StarterListener.postgres("postgres listener", listenerSource, false)) {
        compare(List.of(bare, listener), messages);
      }
      try (var bareSource = pool(postgres, "bare_observed");
          var listenerSource = pool(postgres, "listener_observed");
          var bare =
              BareProcessor.observed(
                  "postgres bare observed",
                  PostgresQueueProvider.create(bareSource),
                  name("bare-observed"),
                  ListenerBenchmark::counting);
          var listener =
              StarterListener.postgres("postgres listener observed", listenerSource, true)) {
        compare(List.of(bare, listener), messages);
      }
      transactional(postgres);
    }
  }

  private void transactional(EmbeddedPostgres postgres) throws Exception {
    try (var bareSource = pool(postgres, "bare_tx");
        var listenerSource = pool(postgres, "listener_tx")) {
      var provider = PostgresQueueProvider.create(bareSource);
      try (var bare =
              BareProcessor.of(
                  "transactional bare",
                  provider,
                  name("bare-tx"),
                  handled -> booking(provider, handled));
          var listener = StarterListener.transactional("transactional listener", listenerSource)) {
        compare(List.of(bare, listener), Math.max(1, messages / 20));
      }
    }
  }

  private static MessageHandler counting(LongAdder handled) {
    return TypedHandler.reading(
        ORDERS,
        (order, delivery, session) -> {
          handled.increment();
          return Settlement.complete();
        });
  }

  private static MessageHandler booking(PostgresQueueProvider provider, LongAdder handled) {
    return provider.transactional(
        name("bare-tx"),
        (delivery, session, connection) -> {
          var order = ORDERS.decode(delivery.payload());
          try (var insert = connection.prepareStatement("INSERT INTO booked VALUES (?, ?)")) {
            insert.setString(1, order.customer());
            insert.setInt(2, order.number());
            insert.executeUpdate();
          }
          handled.increment();
          return Settlement.complete();
        });
  }

  private static HikariDataSource pool(EmbeddedPostgres postgres, String database)
      throws SQLException {
    var pool = new HikariDataSource();
    pool.setDataSource(postgres.createDatabase(database));
    pool.setMaximumPoolSize(24);
    try (var connection = pool.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("CREATE TABLE booked (customer text, number int)");
    }
    return pool;
  }

  private static QueueName name(String text) {
    return QueueName.of(text);
  }

  private void compare(List<Contender> contenders, int count) throws InterruptedException {
    for (int turn = 0; turn < WARM_UPS + repetitions; turn++) {
      for (var contender : contenders) {
        var took = turn(contender, count);
        if (turn >= WARM_UPS) {
          turns.computeIfAbsent(contender.name(), name -> new ArrayList<>()).add(took);
        }
      }
    }
    var bare = turns.getOrDefault(contenders.get(0).name(), List.of());
    contenders.forEach(contender -> print(contender.name(), bare));
  }

  private Turn turn(Contender contender, int count) throws InterruptedException {
    fill(contender, count);
    long before = contender.handled();
    System.gc();
    long cpu = cpu();
    long wall = System.nanoTime();
    contender.resume();
    while (contender.handled() < before + count) {
      LockSupport.parkNanos(200_000);
    }
    var took =
        new Turn((System.nanoTime() - wall) / (double) count, (cpu() - cpu) / (double) count);
    contender.pause();
    while (contender.activeSessions() > 0) {
      Thread.sleep(1);
    }
    if (contender.handled() != before + count) {
      throw new IllegalStateException(contender.name() + " handled a message twice");
    }
    return took;
  }

  private static void fill(Contender contender, int count) {
    for (int at = 0; at < count; at += BATCH) {
      var batch = new ArrayList<Message>(BATCH);
      for (int i = at; i < Math.min(at + BATCH, count); i++) {
        var customer = "customer-" + i % SESSIONS;
        var order = new Order(customer, i, "a cup with a saucer, and tea for two");
        batch.add(Message.of(SessionId.of(customer), ORDERS.encode(order)));
      }
      contender.provider().send(contender.queue(), batch);
    }
  }

  private static long cpu() {
    return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
        .getProcessCpuTime();
  }

  private void print(String name, List<Turn> bare) {
    var own = turns.getOrDefault(name, List.of());
    OUT.printf(
        Locale.ROOT,
        "%-28s %,10.0f msg/s [%,.0f .. %,.0f]  time %.2f of bare  CPU %.2f of bare (%,.0f ns)%n",
        name,
        1e9 / median(own, Turn::wallNanos),
        1e9 / most(own),
        1e9 / least(own),
        median(own, Turn::wallNanos) / median(bare, Turn::wallNanos),
        median(own, Turn::cpuNanos) / median(bare, Turn::cpuNanos),
        median(own, Turn::cpuNanos));
  }

  private static double median(List<Turn> all, java.util.function.ToDoubleFunction<Turn> value) {
    var sorted = all.stream().mapToDouble(value).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private static double most(List<Turn> all) {
    return all.stream().mapToDouble(Turn::wallNanos).max().orElseThrow();
  }

  private static double least(List<Turn> all) {
    return all.stream().mapToDouble(Turn::wallNanos).min().orElseThrow();
  }
}
