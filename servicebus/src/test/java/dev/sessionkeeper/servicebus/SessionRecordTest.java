package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.SessionState;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SessionRecordTest {

  @Test
  void itComesBackAsItWasWritten() {
    var record =
        new SessionRecord(7, 42, 3, true, 99, "no", new SessionState(new byte[] {1, 2}, 5));
    assertThat(SessionRecord.decode(record.encode())).isEqualTo(record);
    assertThat(SessionRecord.decode(new byte[0])).isEqualTo(SessionRecord.NONE);
  }

  @Test
  void aStateOfSomebodyElseIsKept() {
    var foreign = "{\"theirs\":1}".getBytes(StandardCharsets.UTF_8);
    assertThat(SessionRecord.decode(foreign).state()).isEqualTo(new SessionState(foreign, 1));
  }

  @Test
  void anOwnerThatVanishedCountsAndOneThatGaveBackDoesNot() {
    var taken = SessionRecord.NONE.taken(1, 42, false);
    assertThat(taken.failures()).isZero();
    assertThat(taken.taken(2, 42, false).failures()).isEqualTo(1);
    assertThat(taken.givenBack().taken(2, 42, false).failures()).isZero();
    assertThat(taken.taken(2, 43, true).failures()).isEqualTo(1);
  }

  @Test
  void epochsGrowEvenIfTheRecordOfAnEmptySessionWasForgotten() {
    var record = SessionRecord.NONE.taken(Epochs.next(0, 41), 41, false);
    assertThat(record.isForgettable(41)).isTrue();
    assertThat(Epochs.next(0, 42)).isGreaterThan(record.epoch());
    // After more acquisitions than there is room for, it is not forgotten.
    assertThat(record.taken(Epochs.first(42) + 1, 41, false).isForgettable(41)).isFalse();
  }
}
