package dev.sessionkeeper.benchmarks.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.benchmarks.faults.Event.Kind;
import dev.sessionkeeper.benchmarks.faults.Event.Outcome;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@link FaultRun}. */
@Tag("slow")
class FaultRunTest {

  @Test
  void promisesAreKeptWhenOneConsumerIsKilledAndAnotherStopsForLongerThanItsLease(
      @TempDir Path folder) throws Exception {
    var options =
        Options.parse(
            "--seconds",
            "17",
            "--processes",
            "2",
            "--faults",
            "kill,freeze",
            "--freeze",
            "11.5",
            "--lock",
            "2",
            "--senders",
            "1",
            "--rate",
            "250",
            "--seed",
            "3",
            "--folder",
            folder.toString());

    var verdict = new FaultRun(options).run();

    assertThat(verdict.violations()).as(options.asArguments()).isEmpty();
    var history = verdict.history();
    assertThat(history.count(Kind.KILLED)).isPositive();
    assertThat(history.count(Kind.FROZEN)).isPositive();
    assertThat(history.events())
        .filteredOn(event -> event.is(Kind.SETTLED, Outcome.COMPLETE))
        .hasSizeGreaterThan(500);
    assertThat(history.count(Kind.EFFECT)).isGreaterThan(200);
  }
}
