package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreTimeTest {

  @ParameterizedTest
  @ValueSource(longs = {-1, 1})
  void theTimeOfAPushIsTheDatabasesWhateverTheNodesClockSays(long hoursAhead) {
    var database = Database.of(TestDatabase.create().source());
    var time = new StoreTime(database, wrong(Duration.ofHours(hoursAhead)));
    assertThat(time.instant()).isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES));
  }

  private static TimeSource wrong(Duration ahead) {
    return new TimeSource() {
      @Override
      public long nanoTime() {
        return TimeSource.system().nanoTime();
      }

      @Override
      public Timer schedule(Duration delay, Runnable task) {
        return TimeSource.system().schedule(delay, task);
      }

      @Override
      public Instant instant() {
        return TimeSource.system().instant().plus(ahead);
      }
    };
  }
}
