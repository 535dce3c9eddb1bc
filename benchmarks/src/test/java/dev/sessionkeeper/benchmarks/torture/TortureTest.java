package dev.sessionkeeper.benchmarks.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.benchmarks.torture.Row.Needs;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.benchmarks.torture.Row.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of the fault matrix, and whether its verdicts can be bad. */
@Tag("slow")
class TortureTest {
  @TempDir Path folder;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private int torture(String... arguments) throws Exception {
    var out = new PrintStream(said, true, StandardCharsets.UTF_8);
    return new Torture(out, out).run(arguments);
  }

  @Test
  void theQuickRowsAreKept() throws Exception {
    int code = torture("--quick", "--folder", folder.toString());

    assertThat(code).as(said.toString(StandardCharsets.UTF_8)).isZero();
  }

  @Test
  void aRunThatEndsBadlyIsABrokenRow() throws Exception {
    var row = new Row("bad", "", "", false, new Row.Run(List.of("--nonsense", "1"), Needs.NOTHING));

    assertThat(new RunRow(folder, 1).run(row).verdict()).isEqualTo(Verdict.BROKEN);
  }

  @Test
  void aSceneThatThrowsIsABrokenRow() throws Exception {
    var row =
        Row.scene(
            "bad",
            "",
            "",
            own -> {
              throw new IllegalStateException("as planted in " + own);
            });

    assertThat(new RunRow(folder, 1).run(row))
        .returns(Verdict.BROKEN, Seen::verdict)
        .extracting(Seen::what)
        .asString()
        .contains("as planted");
  }

  @Test
  void namesOfRowsAreDistinctAndUnknownOnesAreRefused() throws Exception {
    assertThat(Matrix.all()).extracting(Row::name).doesNotHaveDuplicates();
    assertThat(torture("--only", "no-such-row")).isEqualTo(2);
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("no-such-row");
  }
}
