package dev.sessionkeeper.benchmarks.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Measures whether the product gets slower: steady load for a long time, the rate of the last
 * minute divided by that of the first. A run shorter than minutes compares its fifths.
 *
 * @param hasSnapshot whether another transaction keeps an old snapshot all the time
 */
record LongCell(String name, int seconds, boolean hasSnapshot) implements Cell {
  private static final int SESSIONS = 1000;

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var whole = Duration.ofSeconds(bench.times().isQuick() ? 10 : seconds);
    var part = Duration.ofSeconds(Math.min(60, whole.toSeconds() / 5));
    var database = bench.freshName();
    try (var workers = Workers.start(bench, Arms.KEEPER, 1);
        var connection = bench.source(database).getConnection()) {
      var wish = new Turn.Wish(Arms.KEEPER, database, 0, 1, SESSIONS, 4, 20, bench.board(), false);
      var board = workers.open(wish);
      workers.tell(0, "consume");
      workers.tell(0, "produce");
      Thread.sleep(bench.times().settle());
      if (hasSnapshot) {
        look(connection);
      }
      var first = SteadyCell.measure(bench, workers, board, part);
      Thread.sleep(whole.minus(part.multipliedBy(2)));
      var last = SteadyCell.measure(bench, workers, board, part);
      workers.tell(0, "stop");
      SteadyCell.await(board, Duration.ofSeconds(60));
      long left = board.sent() - board.handled();
      workers.tell(0, "close");
      return List.of(
          Row.of(name, "first " + part.toSeconds() + " s", List.of(first.perSecond()), "msg/s"),
          Row.of(name, "last " + part.toSeconds() + " s", List.of(last.perSecond()), "msg/s"),
          Row.of(name, "last / first", List.of(last.perSecond() / first.perSecond()), "")
              .withGoal("≥ 0.8")
              .withNote("violations " + board.violations() + ", left " + left));
    }
  }

  /** Keeps a snapshot until the connection is closed. */
  private static void look(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (var statement = connection.createStatement()) {
      statement.execute("SELECT count(*) FROM pg_class");
    }
  }
}
