package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.simulator.Simulation;
import dev.sessionkeeper.simulator.Simulation.Plan;
import dev.sessionkeeper.testkit.Violation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class SimulationTest {

  @Test
  void tenThousandSeedsFindNothing() {
    for (long seed = 1; seed <= 10_000; seed++) {
      var outcome = Simulation.run(new Plan(seed, 4, 5, 60), MemoryQueueProvider::create);
      assertThat(outcome.violations()).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void theSameSeedIsTheSameRunAndAnotherSeedIsNot() {
    var plan = new Plan(7, 5, 10, 500);
    var first = Simulation.run(plan, MemoryQueueProvider::create);
    var again = Simulation.run(plan, MemoryQueueProvider::create);
    var other = Simulation.run(new Plan(8, 5, 10, 500), MemoryQueueProvider::create);

    assertThat(again).isEqualTo(first);
    assertThat(other.fingerprint()).isNotEqualTo(first.fingerprint());
    assertThat(first.handled()).isGreaterThan(500);
    assertThat(first.leasesLost()).isPositive();
    assertThat(first.deadLetters()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a retried message goes to the tail",
        "a stale owner's settlement counts",
        "a dead letter is deleted"
      })
  void aPlantedBugIsFoundBySomeSeed(String defect) {
    var bug =
        PlantedBug.all().stream().filter(b -> b.defect().equals(defect)).findFirst().orElseThrow();

    assertThat(seedThatFinds(bug)).isPositive();
  }

  private static long seedThatFinds(PlantedBug bug) {
    for (long seed = 1; seed <= 50; seed++) {
      var outcome = Simulation.run(new Plan(seed, 4, 3, 200), time -> bug.provider().apply(time));
      if (outcome.violations().stream()
          .map(Violation::invariant)
          .anyMatch(invariant -> !invariant.equals("I9"))) {
        return seed;
      }
    }
    return 0;
  }

  @Test
  void aPlanWithoutOwnersIsRefused() {
    assertThatThrownBy(() -> new Plan(1, 0, 1, 1)).hasMessage("owners must be at least 1, was 0");
  }
}
