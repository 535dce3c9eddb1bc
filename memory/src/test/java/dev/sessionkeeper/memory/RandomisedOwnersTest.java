package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.testkit.ContractTime;
import dev.sessionkeeper.testkit.RandomisedOwners;
import dev.sessionkeeper.testkit.RandomisedOwners.Plan;
import dev.sessionkeeper.testkit.Violation;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class RandomisedOwnersTest {
  private static final int MOST_RUNS = 50;
  private static final QueueName QUEUE = QueueName.of("random");

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void nothingIsOvertakenSharedOrLostByAMovedClock(long seed) {
    var time = ContractTime.settable();

    var outcome =
        RandomisedOwners.run(
            MemoryQueueProvider.create(time.source()),
            QUEUE,
            time,
            new Plan(seed, 16, 200, 20_000));

    assertThat(outcome.violations()).isEmpty();
    assertThat(outcome.handled()).isGreaterThan(20_000);
    assertThat(outcome.lost()).isPositive();
    assertThat(outcome.deadLetters()).isPositive();
  }

  @Test
  void nothingIsOvertakenSharedOrLostInRealTime() {
    var time = ContractTime.real();

    var outcome =
        RandomisedOwners.run(
            MemoryQueueProvider.create(time.source()), QUEUE, time, new Plan(4, 16, 200, 20_000));

    assertThat(outcome.violations()).isEmpty();
  }

  @Test
  void aRetryAtTheTailIsFound() {
    assertThat(violatedWith("a retried message goes to the tail")).contains("I1");
  }

  @Test
  void anEffectOfAnOldOwnerIsFound() {
    assertThat(violatedWith("a stale owner's settlement counts")).containsAnyOf("I1", "I2");
  }

  @Test
  void aDeadLetterThatIsDeletedIsFound() {
    assertThat(violatedWith("a dead letter is deleted")).contains("I3");
  }

  /**
   * Returns the violations of the first run that showed the bug, because that depends on the
   * threads.
   */
  private static List<String> violatedWith(String defect) {
    var bug =
        PlantedBug.all().stream().filter(b -> b.defect().equals(defect)).findFirst().orElseThrow();
    for (int seed = 1; seed <= MOST_RUNS; seed++) {
      var time = ContractTime.settable();
      var violations =
          RandomisedOwners.run(
                  bug.provider().apply(time.source()), QUEUE, time, new Plan(seed, 8, 8, 6_000))
              .violations();
      if (!violations.isEmpty()) {
        return violations.stream().map(Violation::invariant).distinct().toList();
      }
    }
    return List.of();
  }
}
