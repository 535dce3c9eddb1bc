package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The short form of {@link SurviveOutage}, whose main method runs the long one. */
@Tag("slow")
class OutageTest {

  @TestInRealTime
  @Timeout(120)
  void aDatabaseThatStandsStillAndDiesUnderLoadLosesNothing() throws Exception {
    var outcome =
        new SurviveOutage(
                1_000, Duration.ofMillis(500), Duration.ofSeconds(5), Duration.ofMillis(500))
            .run();
    assertThat(outcome.violations()).isEmpty();
    assertThat(outcome.accepted()).isGreaterThan(1_000);
    assertThat(outcome.metrics().retrySuccess()).as("the outage was felt").isPositive();
  }
}
