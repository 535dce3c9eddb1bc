package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DueTimesTest {
  private static final long MILLI = 1_000_000;

  private final DueTimes<Due> times = new DueTimes<>(Due.class);
  private final Due a = new Due();
  private final Due b = new Due();
  private final Due c = new Due();

  @Test
  void theEarliestComesFirst() {
    times.register(a, 30 * MILLI);
    times.register(b, 10 * MILLI);
    times.register(c, 20 * MILLI);

    assertThat(times.next()).isEqualTo(10 * MILLI);
    assertThat(times.takeUntil(20 * MILLI)).containsExactly(b, c);
    assertThat(times.next()).isEqualTo(30 * MILLI);
  }

  @Test
  void nothingComesTooEarlyAndAtMostAMillisecondLate() {
    times.register(a, 10 * MILLI + 1);

    assertThat(times.takeUntil(10 * MILLI + 1)).isEmpty();
    assertThat(times.takeUntil(11 * MILLI)).containsExactly(a);
  }

  @Test
  void anEarlierTimeReplacesALaterOneAndNotTheOtherWayRound() {
    times.register(a, 20 * MILLI);
    times.register(a, 30 * MILLI);
    assertThat(times.next()).isEqualTo(20 * MILLI);

    times.register(a, 10 * MILLI);
    assertThat(times.takeUntil(40 * MILLI)).containsExactly(a);
    assertThat(times.next()).isEqualTo(Ticks.NEVER);
  }

  @Test
  void whatIsForgottenLeavesNothing() {
    times.register(a, 10 * MILLI);
    times.register(b, 10 * MILLI);
    times.register(c, 10 * MILLI);
    times.forget(b);
    times.forget(b);
    assertThat(times.takeUntil(10 * MILLI)).containsExactly(a, c);

    times.register(a, 50 * MILLI);
    times.forget(a);
    assertThat(times.takeUntil(60 * MILLI)).isEmpty();
    assertThat(times.next()).isEqualTo(Ticks.NEVER);
    times.register(a, 50 * MILLI);
    assertThat(times.next()).isEqualTo(50 * MILLI);
  }

  @Test
  void whatComesAndGoesInManyMillisecondsLeavesOnlyAFewBucketsBehind() {
    for (int milli = 1; milli <= 1000; milli++) {
      times.register(a, milli * MILLI);
      times.forget(a);
    }
    times.register(b, 5000 * MILLI);

    assertThat(times.next()).isGreaterThan(990 * MILLI);
    assertThat(times.takeUntil(2000 * MILLI)).isEmpty();
    assertThat(times.next()).isEqualTo(5000 * MILLI);
  }
}
