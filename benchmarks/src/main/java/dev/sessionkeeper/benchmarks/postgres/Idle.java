package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.List;

/** The cost of an idle processor. */
record Idle(String name) implements Cell {
  private static final int SESSIONS = 1000;

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var duration = bench.times().window().multipliedBy(2);
    try (var workers = Workers.start(bench, Arms.KEEPER, 1)) {
      workers.open(
          new Turn.Wish(
              Arms.KEEPER, bench.freshName(), 0, 1, SESSIONS, 1, 1, bench.board(), false));
      workers.tell(0, "consume");
      Thread.sleep(Duration.ofSeconds(3));
      double server = bench.databaseSeconds();
      double client = workers.cpuSeconds();
      Thread.sleep(duration);
      double seconds = duration.toMillis() / 1000.0;
      var ofServer = List.of((bench.databaseSeconds() - server) * 100 / seconds);
      var ofClient = List.of((workers.cpuSeconds() - client) * 100 / seconds);
      workers.tell(0, "close");
      return List.of(
          Row.of(name, "database", ofServer, "% of a core"),
          Row.of(name, "client", ofClient, "% of a core"));
    }
  }
}
