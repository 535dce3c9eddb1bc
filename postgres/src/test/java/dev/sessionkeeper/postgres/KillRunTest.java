package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The short form of {@link KillRun}. */
class KillRunTest {

  /** Each process wants to be a reader, so sessions move between rows and memory. */
  @Test
  void everyEffectHappensOnceAndInOrderWhateverIsKilled() throws Exception {
    try (var postgres = EmbeddedPostgres.temporary()) {
      var report =
          new KillRun(postgres, Map.of(ConsumerProcess.CARRY_FROM, "0"))
              .run(Duration.ofSeconds(10), 2, Duration.ofSeconds(3), true);

      assertThat(report.problems()).isEmpty();
      assertThat(report.kills()).isGreaterThanOrEqualTo(3);
      assertThat(report.effects()).isGreaterThan(100);
    }
  }
}
