package dev.sessionkeeper.benchmarks.postgres;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures the PostgreSQL provider, through the whole processor, beside bare SQL with a row per
 * session. Contestants take turns within one run; only their ratio counts.
 *
 * <p>{@code PostgresBenchmark [--quick] [--repetitions 5] [--seconds 5] [--warm-up 54] [--json
 * FILE] [cell…]}; {@link Cells} has their names. Without cells all of them but the long ones.
 */
public final class PostgresBenchmark {
  private PostgresBenchmark() {}

  /** The arguments of a run. */
  private record Wish(Bench.Times times, Optional<Path> json, List<String> cells) {
    static Wish parse(List<String> args) {
      int repetitions = 5;
      long seconds = 5;
      long warmUp = 54;
      boolean isQuick = false;
      var json = Optional.<Path>empty();
      var cells = new ArrayList<String>();
      for (var at = args.iterator(); at.hasNext(); ) {
        var word = at.next();
        switch (word) {
          case "--quick" -> isQuick = true;
          case "--repetitions" -> repetitions = Integer.parseInt(at.next());
          case "--seconds" -> seconds = Long.parseLong(at.next());
          case "--warm-up" -> warmUp = Long.parseLong(at.next());
          case "--json" -> json = Optional.of(Path.of(at.next()));
          default -> cells.add(word);
        }
      }
      var times =
          isQuick
              ? Bench.Times.quick()
              : Bench.Times.of(
                  repetitions, Duration.ofSeconds(warmUp), Duration.ofSeconds(seconds));
      return new Wish(times, json, cells.isEmpty() ? Cells.usual() : cells);
    }
  }

  public static void main(String[] args) throws Exception {
    var wish = Wish.parse(List.of(args));
    wish.cells.forEach(Cells::named); // Refuses a wrong name before anything is measured.
    var rows = new ArrayList<Row>();
    try (var postgres = EmbeddedPostgres.temporary()) {
      var bench = new Bench(postgres, wish.times);
      for (var cell : wish.cells) {
        rows.addAll(Cells.named(cell).run(bench));
        if (wish.json.isPresent()) {
          Files.writeString(wish.json.get(), json(rows));
        }
      }
    }
    Bench.print(markdown(rows));
  }

  static String markdown(List<Row> rows) {
    var lines = new ArrayList<String>();
    lines.add("| cell | measure | median [least..most] | goal | seen |");
    lines.add("|---|---|---|---|---|");
    rows.forEach(row -> lines.add(row.markdown()));
    return String.join("\n", lines);
  }

  static String json(List<Row> rows) {
    return "[\n  " + String.join(",\n  ", rows.stream().map(Row::json).toList()) + "\n]\n";
  }
}
