package dev.sessionkeeper.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RhythmTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final List<List<String>> groups = new CopyOnWriteArrayList<>();
  private final AtomicBoolean isNobodyLeft = new AtomicBoolean();
  private final GroupCalls<String> calls =
      new GroupCalls<>(
          "test",
          10,
          Rhythm.apart(TimeSource.system(), LONG, isNobodyLeft::get, () -> false),
          group -> groups.add(List.copyOf(group)));

  @Test
  void aGroupLeavesAtOnceWhenNobodyElseWillCome() throws Exception {
    calls.add("first");
    await().until(() -> groups.size() == 1);
    calls.add("second");
    await().during(Duration.ofMillis(50)).alias("others may come").until(() -> groups.size() == 1);

    isNobodyLeft.set(true);
    calls.add("third");
    await().atMost(Duration.ofSeconds(5)).until(() -> groups.size() == 2);
    assertThat(groups).containsExactly(List.of("first"), List.of("second", "third"));

    calls.add("fourth");
    await().atMost(Duration.ofSeconds(5)).until(() -> groups.size() == 3);
  }

  @Test
  void callersThatComeBackAtOnceAreHeldUpAndThoseWhoTakeTheirTimeAreNot() {
    var clock = SettableClock.create();
    var rhythm = Rhythm.together(clock);
    assertThat(rhythm.areCallersHeldUp()).isFalse();

    answerMany(rhythm, clock, 4, Duration.ofNanos(200_000));
    assertThat(rhythm.areCallersHeldUp()).isTrue();
    answerMany(rhythm, clock, 4, Duration.ofMillis(5));
    assertThat(rhythm.areCallersHeldUp()).isFalse();
    answerMany(rhythm, clock, 1, Duration.ofNanos(300_000));
    assertThat(rhythm.areCallersHeldUp()).as("one alone holds itself up").isFalse();
  }

  /** Answers thirty batches of a millisecond each, at this interval. */
  private static void answerMany(
      Rhythm rhythm, SettableClock clock, int callers, Duration between) {
    for (int i = 0; i < 30; i++) {
      clock.advance(between);
      rhythm.begin(new AtomicInteger(callers));
      clock.advance(Duration.ofMillis(1));
      rhythm.ended(callers, 0);
    }
  }

  @Test
  void largePiecesOfWorkAreFurtherApartAndFurtherStillWhileOthersAreHeldUp() {
    var clock = SettableClock.create();
    var pace = Pace.of(clock, Duration.ofNanos(500_000));
    assertThat(distanceAfter(pace, clock, 7, true)).isEqualTo(Duration.ofNanos(500_000));
    assertThat(distanceAfter(pace, clock, 8, true)).isEqualTo(Duration.ofMillis(3));
    assertThat(distanceAfter(pace, clock, 32, false)).isEqualTo(Duration.ofMillis(3));
    assertThat(distanceAfter(pace, clock, 32, true)).isEqualTo(Duration.ofMillis(16));
    assertThat(distanceAfter(pace, clock, 7, true)).isEqualTo(Duration.ofNanos(500_000));
  }

  /** Returns the interval after a piece of work of one millisecond. */
  private static Duration distanceAfter(
      Pace pace, SettableClock clock, int size, boolean areOthersHeldUp) {
    clock.advance(Duration.ofMinutes(1));
    pace.begin();
    clock.advance(Duration.ofMillis(1));
    pace.end(size, areOthersHeldUp);
    return pace.distance();
  }
}
