package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.SessionId;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EpochsTest {
  private static final SessionId SESSION = SessionId.of("a");
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

  @Test
  void theyGrowFromOwnerToOwnerOfOneProcessWithinAMillisecond() {
    var epochs = new Epochs();
    long first = epochs.next(SESSION, 0, NOON, 41);
    assertThat(epochs.next(SESSION, 0, NOON, 41)).isGreaterThan(first);
  }

  @Test
  void theyGrowFromProcessToProcessWithoutARecord() {
    long first = new Epochs().next(SESSION, 0, NOON, 41);
    assertThat(new Epochs().next(SESSION, 0, NOON.plusMillis(1), 41)).isGreaterThan(first);
    assertThat(new Epochs().next(SESSION, 0, NOON, 42)).isGreaterThan(first);
  }

  @Test
  void aRecordKeepsThemGrowingWhenTheBrokersClockGoesBack() {
    long first = new Epochs().next(SESSION, 0, NOON, 41);
    assertThat(new Epochs().next(SESSION, first, NOON.minusSeconds(60), 42)).isEqualTo(first + 1);
  }

  @Test
  void theNumberOfAPartitionLeavesRoom() {
    long ofPartition = (7L << 48) + 41;
    assertThat(Epochs.first(NOON, ofPartition)).isEqualTo(Epochs.first(NOON, 41));
  }
}
