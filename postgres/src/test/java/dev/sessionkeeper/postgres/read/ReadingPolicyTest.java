package dev.sessionkeeper.postgres.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReadingPolicyTest {
  private static final Duration WINDOW = Duration.ofMillis(250);

  private final SettableClock clock = SettableClock.create();
  private final ReadingPolicy worth = new ReadingPolicy(clock, 32);

  @Test
  void manySessionsInAShortTimeAreWorthIt() {
    assertThat(worth.claimedRows(31)).isFalse();
    assertThat(worth.claimedRows(1)).isTrue();
  }

  @Test
  void asManyInALongTimeAreNot() {
    worth.claimedRows(31);
    clock.advance(WINDOW.plusMillis(1));
    assertThat(worth.claimedRows(31)).isFalse();
  }

  @Test
  void whatWasAgainstItLately() {
    worth.notWithin(Duration.ofSeconds(5));
    assertThat(worth.claimedRows(100)).isFalse();
    clock.advance(Duration.ofSeconds(5));
    assertThat(worth.claimedRows(100)).isTrue();
  }

  @Test
  void never() {
    var not = new ReadingPolicy(clock, PostgresOptions.NEVER);
    assertThat(not.isNever()).isTrue();
    assertThat(not.claimedRows(1_000_000)).isFalse();
  }

  @Test
  void itIsOverWhenAQuarterOfTheSessionsNeedLanes() {
    worth.begins(1000);
    for (int i = 0; i < 65; i++) {
      worth.neededRow();
    }
    assertThat(worth.isOver(1255)).as("too early to tell").isFalse();
    assertThat(worth.isOver(1256)).isTrue();
    assertThat(worth.claimedRows(100)).as("for ten seconds").isFalse();
    clock.advance(Duration.ofSeconds(10));
    assertThat(worth.claimedRows(100)).isTrue();
  }

  @Test
  void whatWasCountedIsForgottenOnceItWasJudged() {
    worth.begins(0);
    for (int i = 0; i < 64; i++) {
      worth.neededRow();
    }
    assertThat(worth.isOver(256)).isFalse();
    worth.neededRow();
    assertThat(worth.isOver(512)).isFalse();
  }
}
