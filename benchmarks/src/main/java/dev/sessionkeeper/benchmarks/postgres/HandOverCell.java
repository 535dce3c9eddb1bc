package dev.sessionkeeper.benchmarks.postgres;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;

/**
 * Measures how long messages wait when a consuming process joins, leaves or is killed, at 1,000
 * messages per second on 1,000 sessions. A third process sends.
 */
record HandOverCell(String name, Change change) implements Cell {
  private static final int SESSIONS = 1000;
  private static final double PER_SECOND = 1000;
  private static final int FIRST = 0;
  private static final int SECOND = 1;
  private static final int SENDER = 2;

  /** After a kill, the slowest guarantee is a minute, the default lock. */
  private static final Duration LONGEST = Duration.ofSeconds(75);

  /** The change of the first or second process. */
  enum Change {
    JOIN,
    LEAVE,
    KILL
  }

  /** The waiting times, all in milliseconds, counted from the change. */
  private record Seen(double firstByOther, double longestWait, double longestBefore) {}

  @Override
  public List<Row> run(Bench bench) throws Exception {
    var all = new ArrayList<Seen>();
    try (var workers = Workers.start(bench, Arms.KEEPER, 3)) {
      turn(bench, workers);
      for (int i = 0; i < bench.times().repetitions(); i++) {
        all.add(turn(bench, workers));
        Bench.print(String.format(Locale.ROOT, "%s #%d  %s", name, i + 1, all.get(i)));
      }
    }
    var goal = change == Change.KILL ? "≤ 11,000" : "≤ 50";
    return List.of(
        Row.of(name, firstMeasure(), all.stream().map(Seen::firstByOther).toList(), "ms")
            .withGoal(change == Change.KILL ? goal : ""),
        Row.of(
                name,
                "longest wait of a message",
                all.stream().map(Seen::longestWait).toList(),
                "ms")
            .withGoal(goal),
        Row.of(
            name,
            "longest wait in two seconds before",
            all.stream().map(Seen::longestBefore).toList(),
            "ms"));
  }

  private String firstMeasure() {
    return switch (change) {
      case JOIN -> "first message of who joins";
      case LEAVE, KILL -> "first message of the other's sessions";
    };
  }

  private Seen turn(Bench bench, Workers workers) throws Exception {
    var wish =
        new Turn.Wish(Arms.KEEPER, bench.freshName(), 0, 3, SESSIONS, 4, 1, bench.board(), true);
    var board = workers.open(wish);
    workers.tell(FIRST, "consume");
    if (change != Change.JOIN) {
      workers.tell(SECOND, "consume");
    }
    workers.tell(SENDER, "pace " + PER_SECOND);
    Thread.sleep(bench.times().settle().plusSeconds(2));
    long began = System.nanoTime();
    switch (change) {
      case JOIN -> workers.tell(SECOND, "consume");
      case LEAVE -> workers.tell(FIRST, "leave");
      case KILL -> workers.kill(FIRST);
    }
    awaitCalm(bench, board);
    workers.tell(SENDER, "stop");
    boolean isWhole = SteadyCell.await(board, Duration.ofSeconds(30));
    if (change == Change.KILL) {
      workers.replace(FIRST);
      workers.tell(SECOND, "close");
      workers.tell(SENDER, "close");
    } else {
      workers.tellAll("close");
    }
    var first = Trace.of(wish.of(FIRST).trace()).read();
    var second = Trace.of(wish.of(SECOND).trace()).read();
    var seen = seen(first, second, began);
    // Messages that were never handled are in no trace.
    return isWhole
        ? seen
        : new Seen(seen.firstByOther, Double.POSITIVE_INFINITY, seen.longestBefore);
  }

  /** Waits at least five seconds, until nearly all sent messages are handled. */
  private void awaitCalm(Bench bench, Scoreboard board) throws InterruptedException {
    long began = System.nanoTime();
    long least =
        (bench.times().isQuick() ? Duration.ofSeconds(2) : Duration.ofSeconds(5)).toNanos();
    long most = (bench.times().isQuick() ? Duration.ofSeconds(15) : LONGEST).toNanos();
    long now = 0;
    while (now < most && (now < least || board.sent() - board.handled() > PER_SECOND / 5)) {
      Thread.sleep(50);
      now = System.nanoTime() - began;
    }
  }

  private Seen seen(List<Trace.Handled> first, List<Trace.Handled> second, long began) {
    long firstByOther = Long.MAX_VALUE;
    var lastBefore = new HashMap<Integer, Long>();
    for (var handled : first) {
      if (handled.handledAt() < began) {
        lastBefore.merge(handled.session(), handled.handledAt(), Math::max);
      }
    }
    for (var handled : second) {
      if (handled.handledAt() < began) {
        lastBefore.computeIfPresent(
            handled.session(), (id, at) -> at < handled.handledAt() ? null : at);
      }
    }
    for (var handled : second) {
      boolean isOfOther = change == Change.JOIN || lastBefore.containsKey(handled.session());
      if (handled.handledAt() >= began && isOfOther) {
        firstByOther = Math.min(firstByOther, handled.handledAt() - began);
      }
    }
    long longest = 0;
    long before = 0;
    for (var handled : concat(first, second)) {
      if (handled.handledAt() >= began) {
        longest = Math.max(longest, handled.waitedNanos());
      } else if (handled.handledAt() >= began - 2_000_000_000L) {
        before = Math.max(before, handled.waitedNanos());
      }
    }
    double none = Double.POSITIVE_INFINITY;
    return new Seen(
        firstByOther == Long.MAX_VALUE ? none : firstByOther / 1e6, longest / 1e6, before / 1e6);
  }

  private static List<Trace.Handled> concat(List<Trace.Handled> some, List<Trace.Handled> others) {
    var all = new ArrayList<>(some);
    all.addAll(others);
    return all;
  }
}
