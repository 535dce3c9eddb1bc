package dev.sessionkeeper.benchmarks.postgres;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Empties a queue of messages that each fail once, compared with bare SQL without failures. */
record RetriesCell(String name, int sessions, int messages) implements Cell {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var bare = new ArrayList<Seen>();
    var product = new ArrayList<Seen>();
    try (var first = Workers.start(bench, Arms.BARE, 1);
        var second = Workers.start(bench, Arms.FAILING, 1)) {
      turn(bench, first, Arms.BARE);
      turn(bench, second, Arms.FAILING);
      for (int i = 0; i < bench.times().repetitions(); i++) {
        bare.add(turn(bench, first, Arms.BARE));
        product.add(turn(bench, second, Arms.FAILING));
        Bench.print(name + " #" + (i + 1) + "  " + bare.get(i) + " and " + product.get(i));
      }
    }
    return List.of(
        Row.of(name, "bare SQL, none fails", values(bare, Seen::perSecond), "msg/s"),
        Row.of(name, "product, each fails once", values(product, Seen::perSecond), "msg/s")
            .withGoal("≥ 16.2k"),
        Row.of(name, "ratio", Runs.ratios(bare, product, Seen::perSecond), ""),
        Row.of(name, "commits per message", values(product, Seen::commits), ""),
        Row.of(name, "database CPU per message", values(product, Seen::databaseMicros), "µs"),
        Row.of(name, "client CPU per message", values(product, Seen::clientMicros), "µs"));
  }

  /** The figures of one turn; all but the first are per message. */
  private record Seen(
      double perSecond, double commits, double databaseMicros, double clientMicros) {}

  private static List<Double> values(List<Seen> turns, ToDoubleFunction<Seen> value) {
    return turns.stream().map(value::applyAsDouble).toList();
  }

  private Seen turn(Bench bench, Workers workers, Arms arm) throws Exception {
    int count = bench.times().isQuick() ? messages / 10 : messages;
    var wish = new Turn.Wish(arm, bench.freshName(), 0, 1, sessions, 1, 1, bench.board(), false);
    var board = workers.open(wish);
    workers.tell(0, "fill " + count);
    long commits = commits(bench, wish);
    double database = bench.databaseSeconds();
    double client = workers.cpuSeconds();
    long began = System.nanoTime();
    workers.tell(0, "consume");
    boolean isWhole = SteadyCell.await(board, PATIENCE);
    double seconds = (System.nanoTime() - began) / 1e9;
    double databaseMicros = (bench.databaseSeconds() - database) * 1e6 / count;
    double clientMicros = (workers.cpuSeconds() - client) * 1e6 / count;
    workers.tell(0, "close");
    if (!isWhole || board.violations() > 0) {
      throw new IllegalStateException(
          name + " lost or overtook messages: " + board.violations() + " out of order");
    }
    double perMessage = (double) (commits(bench, wish) - commits) / count;
    return new Seen(count / seconds, perMessage, databaseMicros, clientMicros);
  }

  /**
   * Returns how many transactions the server has committed in the database of this turn. A session
   * reports its commits when it ends, or within a second.
   */
  private static long commits(Bench bench, Turn.Wish wish) throws SQLException {
    try (var connection = bench.source(wish.database()).getConnection();
        var statement = connection.createStatement();
        var row =
            statement.executeQuery(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")) {
      row.next();
      return row.getLong(1);
    }
  }
}
