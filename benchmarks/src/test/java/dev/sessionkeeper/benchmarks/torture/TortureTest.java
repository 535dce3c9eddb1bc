package dev.sessionkeeper.benchmarks.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.benchmarks.torture.Results.Result;
import dev.sessionkeeper.benchmarks.torture.Row.Needs;
import dev.sessionkeeper.benchmarks.torture.Row.Seen;
import dev.sessionkeeper.benchmarks.torture.Row.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of the fault matrix, and proof that its verdicts can be bad. */
@Tag("slow")
class TortureTest {
  @TempDir Path folder;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private int torture(String... arguments) throws Exception {
    var out = new PrintStream(said, true, StandardCharsets.UTF_8);
    return new Torture(out, out, new Results(folder.resolve("results.ndjson"))).run(arguments);
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
  void aRowOfTestsIsKeptOnlyIfAllOfItsClassesRanAndNoneFailed() throws Exception {
    var reports = Files.createDirectories(folder.resolve("core/target/surefire-reports"));
    Files.writeString(
        reports.resolve("TEST-a.GoodTest.xml"),
        "<testsuite name=\"a.GoodTest\" time=\"1.5\" tests=\"3\" errors=\"0\" skipped=\"1\""
            + " failures=\"0\"></testsuite>");
    Files.writeString(
        reports.resolve("TEST-a.BadTest.xml"),
        "<testsuite name=\"a.BadTest\" time=\"1,000.5\" tests=\"2\" errors=\"1\" skipped=\"0\""
            + " failures=\"0\"></testsuite>");
    Files.writeString(
        reports.resolve("TEST-a.SkippedTest.xml"),
        "<testsuite name=\"a.SkippedTest\" time=\"0\" tests=\"1\" errors=\"0\" skipped=\"1\""
            + " failures=\"0\"></testsuite>");

    var outcomes =
        new RunTests(folder, folder.resolve("log"), System.err)
            .judge(
                List.of(
                    Row.tests("good", "", "", "core", "GoodTest"),
                    Row.tests("bad", "", "", "core", "GoodTest,BadTest"),
                    Row.tests("skipped", "", "", "core", "SkippedTest"),
                    Row.tests("missing", "", "", "core", "GoodTest,MissingTest"),
                    Row.tests("elsewhere", "", "", "memory", "GoodTest")));

    assertThat(outcomes)
        .extractingFromEntries(entry -> entry.getKey() + " " + entry.getValue().seen().verdict())
        .containsExactly(
            "good KEPT", "bad BROKEN", "skipped BROKEN", "missing BROKEN", "elsewhere BROKEN");
  }

  @Test
  void aProducerWhoseMessagesAreSwappedLostOrDoubledIsFound() {
    assertThat(ThousandProducers.firstWrong(List.of("7/0", "7/2", "7/1")))
        .hasValueSatisfying(wrong -> assertThat(wrong).contains("2 came instead of 1"));
    assertThat(ThousandProducers.firstWrong(List.of("7/0", "7/0")))
        .hasValueSatisfying(wrong -> assertThat(wrong).contains("0 came instead of 1"));
    assertThat(ThousandProducers.firstWrong(List.of("7/0", "7/1")))
        .hasValueSatisfying(wrong -> assertThat(wrong).contains("2 of 5000"));
  }

  @Test
  void aMessageThatIsOvertakenAfterAPromotionIsFound() {
    assertThat(PromoteStandby.firstOutOfOrderOf(List.of("a", "b", "a"), List.of(1, 0, 2)))
        .isEmpty();
    assertThat(PromoteStandby.firstOutOfOrderOf(List.of("a", "a", "a"), List.of(1, 2, 1)))
        .as("a repeated delivery")
        .isEmpty();
    assertThat(PromoteStandby.firstOutOfOrderOf(List.of("a", "a"), List.of(2, 1))).isPresent();
  }

  @Test
  void thePageCountsTheRunsOfEachRowOnItsLastCommit() throws Exception {
    var first = Row.tests("first", "", "", "core", "ATest");
    var second = Row.tests("second", "", "", "core", "BTest");
    var third = Row.tests("third", "", "", "core", "CTest");
    var results = new Results(folder.resolve("results.ndjson"));
    results.add("c0", new Result(first, Seen.broken("on another commit"), Duration.ZERO));
    results.add("c1", new Result(first, Seen.kept("2 tests"), Duration.ofSeconds(3)));
    results.add("c1", new Result(first, Seen.broken("1 of 2 | failed"), Duration.ofSeconds(4)));
    results.add("c0", new Result(second, Seen.kept("5 tests"), Duration.ofSeconds(2)));

    assertThat(results.table(List.of(first, second, third)))
        .contains("| **broken**: 1 of 2 / failed | 1 of 2 | c1 | 4 |")
        .contains("| 5 tests | 1 of 1 | c0 | 2 |")
        .contains("| did not run | 0 of 0 |  |  |")
        .doesNotContain("on another commit");
    assertThat(results.summary(List.of(first, second, third)))
        .isEqualTo(
            "1 of 3 rows were kept in every run, 1 were broken, 0 skipped, 1 did not run; 3 runs in"
                + " all.");
  }

  @Test
  void namesOfRowsAreDistinctAndUnknownOnesAreRefused() throws Exception {
    assertThat(Matrix.all()).extracting(Row::name).doesNotHaveDuplicates();
    assertThat(torture("--row", "no-such-row")).isEqualTo(2);
    assertThat(said.toString(StandardCharsets.UTF_8)).contains("no-such-row");
  }
}
