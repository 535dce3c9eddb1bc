package dev.sessionkeeper.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The judge detects violations. */
class JudgeTest {
  private final Judge judge = new Judge(List.of("a", "b"), 3);

  @Test
  void orderWithFailuresAndRepetitionsHolds() {
    saw("a", 0, 1, true);
    saw("a", 1, 1, false);
    judge.saw(new Handled("victim", "a", 1, 2, Handled.Step.COMPLETING));
    judge.saw(new Handled("consumer", "a", 1, 3, Handled.Step.COMPLETING));
    saw("a", 1, 3, true);
    saw("a", 2, 3, true);
    saw("b", 0, 1, true);
    assertThat(judge.violations()).isEmpty();
    assertThat(judge.isDone()).isFalse();
    saw("b", 1, 1, true);
    saw("b", 2, 1, true);
    assertThat(judge.isDone()).isTrue();
    assertThat(judge.summary())
        .contains("6 of 6 completed", "1 failed", "1 repeated", "0 violations");
  }

  @Test
  void overtakingIsSeen() {
    saw("a", 0, 1, true);
    saw("a", 2, 1, true);
    assertThat(judge.violations()).singleElement().asString().contains("a#2", "before #1");
  }

  @Test
  void whoDiesWithTheAnswerIsNoViolation() {
    judge.saw(new Handled("victim", "a", 0, 1, Handled.Step.COMPLETING));
    saw("a", 1, 2, true);
    assertThat(judge.violations()).isEmpty();
    assertThat(judge.completed()).isEqualTo(2);
    saw("b", 1, 1, true);
    assertThat(judge.violations()).hasSize(1);
  }

  @Test
  void anOwnerThatWasReplacedMustNotComplete() {
    saw("a", 0, 5, true);
    saw("a", 1, 4, true);
    assertThat(judge.violations()).singleElement().asString().contains("a#1", "before #0");
  }

  @Test
  void reportsOfAnEarlierOwnerMayArriveLate() {
    saw("a", 2, 2, true);
    saw("a", 0, 1, true);
    saw("a", 1, 1, true);
    assertThat(judge.violations()).isEmpty();
    assertThat(judge.completed()).isEqualTo(3);
  }

  @Test
  void aConfirmedCompletionMustNotComeAgain() {
    saw("a", 0, 1, true);
    saw("a", 0, 2, true);
    assertThat(judge.violations()).singleElement().asString().contains("a#0", "confirmed");
  }

  @Test
  void anEpochHasOneOwner() {
    judge.saw(new Handled("one", "a", 0, 1, Handled.Step.COMPLETED));
    judge.saw(new Handled("two", "a", 1, 1, Handled.Step.COMPLETED));
    assertThat(judge.violations()).singleElement().asString().contains("two owners");
  }

  @Test
  void halfALineIsNoReport() {
    var line = new Handled("c", "a", 3, 12, Handled.Step.COMPLETED).toLine();
    for (int end = 0; end < line.length(); end++) {
      assertThat(Handled.isLine(line.substring(0, end))).isFalse();
    }
  }

  @Test
  void aReportSurvivesItsLine() {
    var handled = new Handled("c", "acme/shop/pull_request/7", 3, 12, Handled.Step.COMPLETED);
    assertThat(Handled.isLine(handled.toLine())).isTrue();
    assertThat(Handled.ofLine(handled.toLine())).isEqualTo(handled);
  }

  private void saw(String session, int index, long epoch, boolean completed) {
    var step = completed ? Handled.Step.COMPLETED : Handled.Step.FAILED;
    judge.saw(new Handled("consumer", session, index, epoch, step));
  }
}
