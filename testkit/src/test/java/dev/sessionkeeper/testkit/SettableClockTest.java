package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SettableClockTest {
  private final SettableClock clock = SettableClock.create();
  private final List<String> rang = new ArrayList<>();

  @Test
  void timersRingInTheOrderOfTheirTimesAndSeeThem() {
    var start = clock.instant();
    clock.schedule(Duration.ofSeconds(2), () -> rang.add("b " + since(start)));
    clock.schedule(Duration.ofSeconds(1), () -> rang.add("a " + since(start)));
    clock.schedule(Duration.ofSeconds(9), () -> rang.add("never"));

    clock.advance(Duration.ofSeconds(3));

    assertThat(rang).containsExactly("a PT1S", "b PT2S");
    assertThat(since(start)).isEqualTo(Duration.ofSeconds(3));
    assertThat(clock.pendingTimers()).isEqualTo(1);
  }

  private Duration since(java.time.Instant start) {
    return Duration.between(start, clock.instant());
  }

  @Test
  void aTimerSetByATimerRingsInTheSameMove() {
    clock.schedule(
        Duration.ofSeconds(1),
        () -> clock.schedule(Duration.ofSeconds(1), () -> rang.add("second")));

    clock.advance(Duration.ofSeconds(2));

    assertThat(rang).containsExactly("second");
  }

  @Test
  void timersOfOneMomentRingInTheOrderInWhichTheyWereSet() {
    clock.schedule(Duration.ofSeconds(1), () -> rang.add("a"));
    clock.schedule(Duration.ofSeconds(1), () -> rang.add("b"));

    clock.advance(Duration.ofSeconds(1));

    assertThat(rang).containsExactly("a", "b");
  }

  @Test
  void aCancelledTimerDoesNotRing() {
    clock.schedule(Duration.ofSeconds(1), () -> rang.add("a")).cancel();

    clock.advance(Duration.ofSeconds(1));

    assertThat(rang).isEmpty();
  }

  @Test
  void aJumpOfTheWallClockMovesNothingElse() {
    var start = clock.instant();
    long nanos = clock.nanoTime();
    clock.schedule(Duration.ofSeconds(1), () -> rang.add("a"));

    clock.jumpWallClock(Duration.ofDays(1));

    assertThat(since(start)).isEqualTo(Duration.ofDays(1));
    assertThat(clock.nanoTime()).isEqualTo(nanos);
    assertThat(rang).isEmpty();
  }

  @Test
  void timeDoesNotGoBack() {
    assertThatThrownBy(() -> clock.advance(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT-1S");
  }
}
