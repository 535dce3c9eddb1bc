package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The short version of {@link KillRun}. */
class KillRunTest {

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void everyEffectHappensOnceAndInOrderWhateverIsKilled(int carryFrom) throws Exception {
    try (var postgres = EmbeddedPostgres.temporary()) {
      var report =
          new KillRun(postgres, Map.of(ConsumerProcess.CARRY_FROM, "" + carryFrom))
              .run(Duration.ofSeconds(10), 2, Duration.ofSeconds(3), true);

      assertThat(report.problems()).isEmpty();
      assertThat(report.kills()).isGreaterThanOrEqualTo(3);
      assertThat(report.effects()).isGreaterThan(100);
    }
  }
}
