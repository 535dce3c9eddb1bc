package dev.sessionkeeper.benchmarks.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CellsTest {

  @Test
  void everyUsualCellHasAName() {
    assertThat(Cells.usual()).allSatisfy(name -> assertThat(Cells.named(name)).isNotNull());
    assertThat(Cells.named("snapshot-600")).isEqualTo(new LongCell("snapshot-600", 600, true));
  }

  @Test
  void aNameThatIsWrongIsRefused() {
    assertThatThrownBy(() -> Cells.named("steady")).hasMessageContaining("needs a number");
    assertThatThrownBy(() -> Cells.named("fast")).hasMessageContaining("Unknown cell fast");
  }

  @Test
  void resultsAreATableAndJson() {
    var row = Row.of("kill", "longest wait", List.of(3.0, 1.0, 2.0), "ms").withGoal("≤ 50");
    assertThat(PostgresBenchmark.markdown(List.of(row)))
        .contains("| kill | longest wait | 2.00 [1.00..3.00] ms | ≤ 50 |  |");
    assertThat(PostgresBenchmark.json(List.of(row))).contains("\"median\": 2.0, \"least\": 1.0");
    var never = Row.of("kill", "longest wait", List.of(Double.POSITIVE_INFINITY), "ms");
    assertThat(never.json()).contains("\"median\": null");
  }

  @Test
  void aMessageThatIsHandledByAnotherProcessOutOfOrderIsSeen(@TempDir Path folder)
      throws Exception {
    var file = folder.resolve("board");
    var first = new Load(10, 2, Scoreboard.shared(file, 2, 20), 0, Optional.empty());
    var second = new Load(10, 2, Scoreboard.shared(file, 2, 20), 1, Optional.empty());
    var one = first.next(0, 3);
    var two = first.next(0, 3);
    first.addSent(2);

    second.handle(one);
    assertThat(first.open()).isEqualTo(1);
    first.handle(two);
    assertThat(second.open()).isZero();
    assertThat(second.violations()).isZero();
    second.handle(two);
    assertThat(first.violations()).isEqualTo(1);
  }

  @Tag("slow")
  @Test
  void twoProcessesOfEachArmTakeTurns() throws Exception {
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      var rows = Cells.named("steady-2-100").run(new Bench(postgres, Bench.Times.quick()));

      assertThat(rows).extracting(Row::measure).contains("bare SQL", "product", "ratio");
      assertThat(rows.get(1).note()).isEqualTo("violations 0, left 0");
      assertThat(rows.get(2).runs().median()).isPositive();
    }
  }
}
