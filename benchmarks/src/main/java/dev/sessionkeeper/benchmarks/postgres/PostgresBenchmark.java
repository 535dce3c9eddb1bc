package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * Measures the PostgreSQL provider, through the whole processor, beside bare SQL with a row per
 * session. Arms take turns within one run; what counts is their ratio.
 *
 * <p>{@code PostgresBenchmark [repetitions] [seconds] [cell…]}; cells are steady-1000,
 * steady-100000, single-1000, single-100000, drain-1-10000, drain-1000-100000, drain-100000-100000,
 * drain-1000-10000, drain-1000-1000000, latency, idle, insert, bulk, two-1000 and two-100000
 * (steady load, two processes consume), long-600 (for so many seconds). Without cells all of them
 * but the long ones and those of two processes.
 */
public final class PostgresBenchmark {
  private static final List<String> ALL =
      List.of(
          "steady-1000",
          "steady-100000",
          "single-1000",
          "single-100000",
          "drain-1-10000",
          "drain-1000-10000",
          "drain-1000-100000",
          "drain-100000-100000",
          "insert",
          "bulk",
          "latency",
          "idle");

  private static final Duration WARM_UP = Duration.ofSeconds(54);

  private final EmbeddedPostgres postgres;
  private final int repetitions;
  private final Duration window;
  private final AtomicInteger databases = new AtomicInteger();

  private PostgresBenchmark(EmbeddedPostgres postgres, int repetitions, Duration window) {
    this.postgres = postgres;
    this.repetitions = repetitions;
    this.window = window;
  }

  public static void main(String[] args) throws Exception {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    var window = Duration.ofSeconds(args.length > 1 ? Integer.parseInt(args[1]) : 5);
    var cells = args.length > 2 ? List.of(args).subList(2, args.length) : ALL;
    try (var postgres = EmbeddedPostgres.temporary()) {
      var benchmark = new PostgresBenchmark(postgres, repetitions, window);
      for (var cell : cells) {
        benchmark.run(cell);
      }
    }
  }

  private void run(String cell) throws Exception {
    var parts = cell.split("-", -1);
    switch (parts[0]) {
      case "steady" -> steady(cell, Integer.parseInt(parts[1]), 4, 20, KeeperArm::open);
      case "single" -> steady(cell, Integer.parseInt(parts[1]), 16, 1, KeeperArm::open);
      case "two" ->
          steady(
              cell,
              Integer.parseInt(parts[1]),
              4,
              20,
              (database, sessions) -> KeeperArm.open(database, sessions, 2));
      case "drain" -> drain(cell, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
      case "latency" -> new Latency(fresh()).run(Duration.ofSeconds(10));
      case "idle" -> new Idle(fresh(), postgres.pid()).run(Duration.ofSeconds(10));
      case "bulk" -> new BulkInserts(window, repetitions).run(this::fresh);
      case "long" -> LongRun.ofSeconds(Integer.parseInt(parts[1])).run(fresh(), postgres.pid());
      case "insert" -> new SingleInserts(window, repetitions).run(this::fresh);
      default -> throw new IllegalArgumentException("Unknown cell " + cell);
    }
  }

  /**
   * A new database. The last one goes first, with all it would have the server do: what one turn
   * leaves behind must not be cleared away in the next one, which is the other's.
   */
  private DataSource fresh() {
    int last = databases.getAndIncrement();
    try (var connection = postgres.adminDataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS bench" + last + " WITH (FORCE)");
      statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      throw new IllegalStateException("Cannot drop the database of the last turn", e);
    }
    return postgres.createDatabase("bench" + databases.get());
  }

  private void steady(String cell, int sessions, int producers, int batch, Arm.Factory product)
      throws Exception {
    var shape = new SteadyState(sessions, producers, batch, Duration.ofSeconds(6), window);
    // Does not count: the compiler is at work for so long.
    var first = new SteadyState(sessions, producers, batch, Duration.ofSeconds(6), WARM_UP);
    steady(first, RowPerSessionArm::open);
    steady(first, product);
    var bare = new ArrayList<SteadyState.Result>();
    var keeper = new ArrayList<SteadyState.Result>();
    for (int i = 0; i < repetitions; i++) {
      bare.add(steady(shape, RowPerSessionArm::open));
      keeper.add(steady(shape, product));
      print(
          String.format(
              Locale.ROOT,
              "%s #%d  row per session %.1fk/s, %.0f+%.0f us  keeper %.1fk/s, %.0f+%.0f us",
              cell,
              i + 1,
              bare.get(i).perSecond() / 1000,
              bare.get(i).databaseMicros(),
              bare.get(i).clientMicros(),
              keeper.get(i).perSecond() / 1000,
              keeper.get(i).databaseMicros(),
              keeper.get(i).clientMicros()));
    }
    print(
        String.format(
            Locale.ROOT,
            "%s: row per session %s msg/s, keeper %s msg/s, ratio %s, database CPU per message %s;"
                + " violations %d, left %d",
            cell,
            Runs.of(bare.stream().map(SteadyState.Result::perSecond).toList()).thousands(),
            Runs.of(keeper.stream().map(SteadyState.Result::perSecond).toList()).thousands(),
            ratios(bare, keeper, SteadyState.Result::perSecond).plain(),
            ratios(bare, keeper, SteadyState.Result::databaseMicros).plain(),
            keeper.stream().mapToLong(SteadyState.Result::violations).sum(),
            keeper.stream().mapToLong(SteadyState.Result::left).sum()));
  }

  private SteadyState.Result steady(SteadyState shape, Arm.Factory factory) throws Exception {
    try (var arm = factory.open(fresh(), shape.sessions())) {
      return shape.run(arm, postgres.pid());
    }
  }

  private void drain(String cell, int sessions, int messages) throws Exception {
    var shape = new Drain(sessions, messages);
    var bare = new ArrayList<Drain.Result>();
    var keeper = new ArrayList<Drain.Result>();
    for (int i = 0; i < repetitions; i++) {
      try (var arm = RowPerSessionArm.open(fresh(), sessions)) {
        bare.add(shape.run(arm));
      }
      try (var arm = KeeperArm.open(fresh(), sessions)) {
        keeper.add(shape.run(arm));
      }
    }
    print(
        String.format(
            Locale.ROOT,
            "%s: produce %s / %s msg/s, ratio %s; consume %s / %s msg/s, ratio %s; violations %d, left %d",
            cell,
            Runs.of(bare.stream().map(Drain.Result::sentPerSecond).toList()).thousands(),
            Runs.of(keeper.stream().map(Drain.Result::sentPerSecond).toList()).thousands(),
            ratios(bare, keeper, Drain.Result::sentPerSecond).plain(),
            Runs.of(bare.stream().map(Drain.Result::handledPerSecond).toList()).thousands(),
            Runs.of(keeper.stream().map(Drain.Result::handledPerSecond).toList()).thousands(),
            ratios(bare, keeper, Drain.Result::handledPerSecond).plain(),
            keeper.stream().mapToLong(Drain.Result::violations).sum(),
            keeper.stream().mapToLong(Drain.Result::left).sum()));
  }

  private static <R> Runs ratios(
      List<R> base, List<R> other, java.util.function.ToDoubleFunction<R> value) {
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < base.size(); i++) {
      ratios.add(value.applyAsDouble(other.get(i)) / value.applyAsDouble(base.get(i)));
    }
    return Runs.of(ratios);
  }

  static void print(String line) {
    System.out.println(line);
  }
}
