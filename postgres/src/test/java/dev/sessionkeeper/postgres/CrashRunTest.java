package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.Test;

/** The short form of {@link CrashRun}. */
class CrashRunTest {

  @Test
  void nothingAcknowledgedIsStrandedOrOvertakenWhenTheDatabaseCrashes() throws Exception {
    try (var postgres = EmbeddedPostgres.temporary();
        var run = new CrashRun(postgres)) {
      var report = run.run(10);

      assertThat(report.problems()).isEmpty();
      assertThat(report.crashes()).isEqualTo(10);
      assertThat(report.crashesWithLosses()).as("else it proves nothing").isPositive();
    }
  }
}
