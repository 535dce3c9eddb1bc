package dev.sessionkeeper.benchmarks.faults;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import dev.sessionkeeper.testkit.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The checkers' verdict about a history. */
record Verdict(History history, Map<String, List<Violation>> byPromise) {
  private static final int MOST_SHOWN = 5;

  static Verdict of(History history) {
    var byPromise = new LinkedHashMap<String, List<Violation>>();
    for (var checker : Checker.all()) {
      byPromise.put(checker.promise(), checker.check(history));
    }
    return new Verdict(history, byPromise);
  }

  List<Violation> violations() {
    return byPromise.values().stream().flatMap(List::stream).toList();
  }

  String table() {
    var lines = new ArrayList<String>();
    lines.add("| what happened | count |");
    lines.add("|---|---|");
    counts()
        .forEach((what, count) -> lines.add(row(what, String.format(Locale.ROOT, "%,d", count))));
    lines.add("");
    lines.add("| promise | violations |");
    lines.add("|---|---|");
    byPromise.forEach(
        (promise, found) ->
            lines.add(row(promise, found.isEmpty() ? "0" : "**" + found.size() + "**")));
    byPromise.forEach(
        (promise, found) ->
            found.stream().limit(MOST_SHOWN).forEach(violation -> lines.add("- " + violation)));
    return String.join("\n", lines);
  }

  private static String row(String name, String value) {
    return "| " + name + " | " + value + " |";
  }

  private Map<String, Long> counts() {
    var counts = new LinkedHashMap<String, Long>();
    counts.put("sends acknowledged", history.count(Kind.SENT));
    counts.put("holds", history.count(Kind.TAKEN));
    counts.put("handlers called", history.count(Kind.BEGAN));
    counts.put("completions confirmed", completions());
    counts.put("settlements refused", history.count(Kind.REFUSED));
    counts.put("leases lost", history.count(Kind.LOST));
    counts.put("effects of transactions", history.count(Kind.EFFECT));
    counts.put("dead letters", history.count(Kind.DEAD));
    counts.put("acts and replays", history.count(Kind.ACTING) + history.count(Kind.REPLAYING));
    counts.put("processes killed", history.count(Kind.KILLED));
    counts.put("processes frozen", history.count(Kind.FROZEN));
    counts.put("processes that left", history.count(Kind.LEAVING));
    counts.put("connections cut", history.count(Kind.CUT));
    counts.put("crashes of the database", history.count(Kind.CRASHING));
    return counts;
  }

  private long completions() {
    return history.events().stream()
        .filter(event -> event.is(Kind.SETTLED, Outcome.COMPLETE))
        .count();
  }
}
