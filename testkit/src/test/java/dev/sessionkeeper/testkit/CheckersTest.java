package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CheckersTest {
  private static final SessionId A = SessionId.of("a");
  private static final Settlement DONE = Settlement.complete();
  private static final Settlement AGAIN = Settlement.retryAfter(Duration.ZERO);

  private final History history = new History();

  @BeforeEach
  void threeMessagesAreAccepted() {
    for (int sequence = 1; sequence <= 3; sequence++) {
      history.sent(A, new SendOutcome.Stored(id(sequence), sequence));
    }
  }

  @Test
  void aPlainRunIsInOrder() {
    handled(1, 1, DONE);
    handled(1, 2, DONE);
    handled(1, 3, DONE);

    assertThat(CheckOrder.of(history.events())).isEmpty();
    assertThat(CheckOwners.of(history.events())).isEmpty();
    assertThat(CheckConservation.of(history.events(), Set.of(), Set.of())).isEmpty();
  }

  @Test
  void retriesAndRedeliveriesAreInOrder() {
    handled(1, 1, AGAIN);
    handled(1, 1, DONE);
    history.started(A, 1, delivery(2));
    history.ended(A, 1, delivery(2), DONE);
    history.lost(A, 1);
    handled(2, 2, DONE);
    handled(2, 3, Settlement.deadLetter("no"));

    assertThat(CheckOrder.of(history.events())).isEmpty();
    assertThat(CheckOwners.of(history.events())).isEmpty();
    assertThat(CheckConservation.of(history.events(), Set.of(), Set.of(id(3)))).isEmpty();
  }

  @Test
  void overtakingIsFound() {
    handled(1, 2, DONE);

    assertThat(CheckOrder.of(history.events()))
        .singleElement()
        .hasToString("I1: session a, epoch 1: message 2 was handled while 1 is open");
  }

  @Test
  void overtakingDuringARetryIsFound() {
    handled(1, 1, AGAIN);
    handled(1, 2, DONE);

    assertThat(CheckOrder.of(history.events())).hasSize(1);
  }

  @Test
  void settlingBackwardsIsFound() {
    handled(1, 1, DONE);
    handled(1, 2, DONE);
    history.settled(A, 1, id(1), 1, DONE);

    assertThat(CheckOrder.of(history.events()))
        .singleElement()
        .hasToString("I1: session a, epoch 1: message 1 was settled after 2");
  }

  @Test
  void whatWasReplayedMayComeAgain() {
    handled(1, 1, Settlement.deadLetter("no"));
    handled(1, 2, DONE);
    history.replayed(A, id(1), 1);
    handled(2, 1, DONE);
    handled(2, 3, DONE);

    assertThat(CheckOrder.of(history.events())).isEmpty();
    assertThat(CheckConservation.of(history.events(), Set.of(), Set.of())).isEmpty();
  }

  @Test
  void twoHandlersOfOneSessionAreFound() {
    history.started(A, 1, delivery(1));
    history.started(A, 2, delivery(1));

    assertThat(CheckOwners.of(history.events())).hasSize(1);
  }

  @Test
  void aHandlerThatRunsOnAfterItsLeaseWasLostIsNoSecondOwner() {
    history.started(A, 1, delivery(1));
    history.started(A, 2, delivery(1));
    history.lost(A, 1);

    assertThat(CheckOwners.of(history.events())).isEmpty();
  }

  @Test
  void twoHandlersUnderOneLeaseAreFoundEvenIfItIsLost() {
    history.started(A, 1, delivery(1));
    history.started(A, 1, delivery(2));
    history.lost(A, 1);

    assertThat(CheckOwners.of(history.events())).hasSize(1);
  }

  @Test
  void anEffectOfAnOldOwnerIsFound() {
    handled(2, 1, DONE);
    history.settled(A, 1, id(2), 2, DONE);

    assertThat(CheckOwners.of(history.events())).hasSize(1);
  }

  @Test
  void aLostMessageIsFound() {
    handled(1, 1, DONE);

    assertThat(CheckConservation.of(history.events(), Set.of(id(2)), Set.of()))
        .singleElement()
        .hasToString("I3: message m-3 was accepted and is nowhere");
  }

  @Test
  void aMessageInTwoPlacesIsFound() {
    handled(1, 1, DONE);

    assertThat(CheckConservation.of(history.events(), Set.of(id(1), id(2), id(3)), Set.of(id(3))))
        .extracting(Violation::toString)
        .containsExactly(
            "I8: message m-1 was completed and is still there",
            "I8: message m-3 is waiting and a dead letter");
  }

  @Test
  void aMessageFromNowhereIsFound() {
    var there = Set.of(id(1), id(2), id(3), id(4));

    assertThat(CheckConservation.of(history.events(), there, Set.of()))
        .singleElement()
        .hasToString("I8: message m-4 exists but was never accepted");
  }

  private void handled(long epoch, long sequence, Settlement settlement) {
    history.started(A, epoch, delivery(sequence));
    history.ended(A, epoch, delivery(sequence), settlement);
    history.settled(A, epoch, id(sequence), sequence, settlement);
  }

  private static MessageId id(long sequence) {
    return MessageId.of("m-" + sequence);
  }

  private static Delivery delivery(long sequence) {
    return new Delivery(
        Message.of(A, Payload.empty()).withId(id(sequence)), sequence, 1, Instant.EPOCH);
  }
}
