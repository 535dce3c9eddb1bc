package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  private static final Instant NEXT = Instant.parse("2026-11-15T10:00:00Z");
  private static final Schedule MINUTELY = Schedule.every(Duration.ofMinutes(1));

  @Test
  void aLateRunIsForItsSlotAndNotForTheTimeItRuns() {
    var slot = MINUTELY.slotAt(NEXT, NEXT.plusSeconds(59));
    assertThat(slot).isEqualTo(new JobSlot(NEXT, 0, 0, false));
    assertThat(MINUTELY.next(slot)).isEqualTo(NEXT.plusSeconds(60));
  }

  @Test
  void coalescingRunsTheNewestSlotForAllMissedOnes() {
    assertThat(MINUTELY.slotAt(NEXT, NEXT.plusSeconds(300)))
        .isEqualTo(new JobSlot(NEXT.plusSeconds(300), 5, 0, false));
  }

  @Test
  void skippingRunsTheNewestSlotAndDropsTheMissedOnes() {
    assertThat(MINUTELY.onMisfire(new Misfire.Skip()).slotAt(NEXT, NEXT.plusSeconds(301)))
        .isEqualTo(new JobSlot(NEXT.plusSeconds(300), 0, 5, false));
  }

  @Test
  void allRunsTheOldestOfTheNewestSoMany() {
    var schedule = MINUTELY.onMisfire(new Misfire.All(3));
    assertThat(schedule.slotAt(NEXT, NEXT.plusSeconds(300)))
        .isEqualTo(new JobSlot(NEXT.plusSeconds(180), 0, 3, false));
    assertThat(schedule.slotAt(NEXT, NEXT.plusSeconds(119)))
        .isEqualTo(new JobSlot(NEXT, 0, 0, false));
  }

  @Test
  void aRunBeforeItsTimeUsesUpNoSlot() {
    assertThat(MINUTELY.slotAt(NEXT, NEXT.minusSeconds(1)))
        .isEqualTo(new JobSlot(NEXT.minusSeconds(60), 0, 0, true));
  }

  /**
   * A scheduler that slept after the work drifted; here a day of slow runs stays on the schedule.
   */
  @Test
  void aDayOfRunsThatTakeAnyTimeCoversEverySlotOnceAndDoesNotDrift() {
    var random = new Random(7);
    var next = NEXT;
    var now = NEXT;
    long covered = 0;
    var end = NEXT.plus(Duration.ofDays(1));
    while (next.isBefore(end)) {
      now = now.isBefore(next) ? next : now;
      var slot = MINUTELY.slotAt(next, now);
      covered += slot.covered() + 1;
      now = now.plusMillis(random.nextInt(180_000));
      next = MINUTELY.next(slot);
      assertThat(next.getEpochSecond() % 60).isZero();
    }
    assertThat(covered).isEqualTo(Duration.between(NEXT, next).toMinutes());
  }

  @Test
  void anIntervalThatIsNoGridIsRefused() {
    assertThatThrownBy(() -> Schedule.every(Duration.ZERO))
        .hasMessage("interval must be 1 ms to 366 days, was PT0S");
    assertThatThrownBy(() -> Schedule.every(Duration.ofNanos(1_000_001)))
        .hasMessageContaining("whole microseconds");
  }
}
