package dev.sessionkeeper.benchmarks.postgres;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures pages of sessions, and one session by its name, of a very large queue without consumers.
 */
record ListsCell(String name, int sessions, int messages) implements Cell {

  @Override
  public List<Row> run(Bench bench) throws Exception {
    int size = bench.times().isQuick() ? 50 : 1;
    var pages = new ArrayList<Double>();
    var small = new ArrayList<Double>();
    var singles = new ArrayList<Double>();
    var cpu = new ArrayList<Double>();
    try (var workers = Workers.start(bench, Arms.KEEPER, 1)) {
      var wish =
          new Turn.Wish(
              Arms.KEEPER, bench.freshName(), 0, 1, sessions / size, 1, 1, bench.board(), false);
      workers.open(wish);
      workers.tell(0, "fill " + messages / size);
      workers.tell(0, "look");
      for (int i = 0; i < Math.max(3, bench.times().repetitions()); i++) {
        double before = bench.databaseSeconds();
        var words = workers.tell(0, "look").split(" ", -1);
        cpu.add((bench.databaseSeconds() - before) * 1000);
        pages.add(Double.parseDouble(words[1]));
        small.add(Double.parseDouble(words[2]));
        singles.add(Double.parseDouble(words[3]));
      }
      workers.tell(0, "close");
    }
    return List.of(
        Row.of(name, "page of 1,000 sessions, as the caller sees it", pages, "ms")
            .withGoal("≤ 100"),
        Row.of(name, "page of 100 sessions", small, "ms").withGoal("≤ 100"),
        Row.of(name, "one session by its name", singles, "ms").withGoal("≤ 100"),
        Row.of(name, "database CPU of all three", cpu, "ms"));
  }
}
