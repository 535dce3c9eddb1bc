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
    var inHand = taken.handedOut(42);
    assertThat(inHand.taken(2, 42, false).failures()).isEqualTo(1);
    assertThat(inHand.givenBack().taken(2, 42, false).failures()).isZero();
    assertThat(inHand.taken(2, 43, true).failures()).isEqualTo(1);
  }

  @Test
  void anOwnerThatWasHandedNothingDoesNotCount() {
    var taken = SessionRecord.NONE.taken(1, 42, false);
    assertThat(taken.taken(2, 42, false).failures()).isZero();
  }

  @Test
  void whatTellsOfTheHeadIsForgottenWhenTheHeadIsDone() {
    var record = SessionRecord.NONE.taken(5, 42, false).handedOut(42);
    assertThat(record.isForgettable(42, 6)).isTrue();
    assertThat(record.isForgettable(0, 6)).as("nothing failed yet").isTrue();
    assertThat(record.failed(42, 1, 99, "no").isForgettable(0, 6)).isFalse();
    assertThat(record.failed(42, 1, 99, "no").isForgettable(42, 6)).isTrue();
    assertThat(record.isForgettable(42, 5)).as("an epoch would come twice").isFalse();
    assertThat(record.withState(new SessionState(new byte[] {1}, 1)).isForgettable(42, 6))
        .isFalse();
  }
}
