package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException.OutOfOrder;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.SessionStatus;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The order of handling, also after failures: S-03, S-03a, S-04 and S-06. */
public abstract class SettlingContract extends WaitingContract {
  private static final Duration DELAY = Duration.ofSeconds(2);

  @Test
  @ContractRule("S-03")
  void theNextMessageComesBehindTheOneInHand() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    try (var session = accepted()) {
      var first = received(session);
      var second = received(session);
      assertThat(List.of(bodyOf(first), bodyOf(second))).containsExactly("a1", "a2");
      complete(session, first, second);
      complete(session, received(session));
      assertNothingToReceive(session);
    }
  }

  @Test
  @ContractRule("S-03")
  void noOtherOwnerSeesTheNextMessageBeforeThisOneIsSettled() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      received(session);
      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    }
    try (var session = accepted()) {
      assertThat(bodyOf(received(session))).isEqualTo("a1");
    }
  }

  @Test
  @ContractRule("S-03")
  void aCompletedMessageNeverComesAgain() throws Exception {
    orderedWithShortLock();
    sent("a", "a1", "a2");
    var session = accepted();
    complete(session, received(session));
    received(session);
    pass(LOCK);

    assertThat(drained()).containsExactly("a2");
  }

  @Test
  @ContractRule("S-03")
  void aMessageThatIsNotYetDueHoldsBackTheLaterOnes() throws Exception {
    declared(QueueSettings.ordered());
    sent(message("a", "a1").notBefore(time().source().instant().plus(DELAY)));
    sent("a", "a2");
    sent("b", "b1");

    assertThat(drained()).containsExactly("b1");
    pass(DELAY);
    assertThat(drained()).containsExactly("a1", "a2");
  }

  @Test
  @ContractRule("S-03a")
  void settlingTheSecondWhileTheFirstIsOpenIsRefusedAndChangesNothing() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      var batch = received(session, 2);

      assertOutOfOrder(() -> complete(session, batch.get(1)));
      assertOutOfOrder(() -> complete(session, batch.get(1), batch.get(0)));

      complete(session, batch.get(0), batch.get(1));
    }
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("S-03a")
  void aRefusedListOfSettlementsIsAppliedInNoPart() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    try (var session = accepted()) {
      var batch = received(session, 3);
      assertOutOfOrder(() -> complete(session, batch.get(0), batch.get(2)));
    }
    assertThat(drained()).containsExactly("a1", "a2", "a3");
  }

  @Test
  @ContractRule("S-03a")
  void severalAreSettledTogetherEachInItsWay() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    try (var session = accepted()) {
      var batch = received(session, 3);
      finished(
          session.settle(
              List.of(
                  settled(batch.get(0), Settlement.complete()),
                  settled(batch.get(1), Settlement.deadLetter("unwanted")),
                  settled(batch.get(2), Settlement.retryAfter(Duration.ZERO)))));
    }
    assertThat(drained()).containsExactly("a3");
  }

  @Test
  @ContractRule("S-03a")
  void aMessageIsSettledOnce() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      var first = received(session);
      complete(session, first);
      assertOutOfOrder(() -> complete(session, first));
      assertThat(bodyOf(received(session))).isEqualTo("a2");
    }
  }

  @Test
  @ContractRule("S-04")
  void aRetriedMessageStaysAtTheHead() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ZERO));
    }
    try (var session = accepted()) {
      var again = received(session);
      assertThat(bodyOf(again)).isEqualTo("a1");
      assertThat(again.attempt()).isEqualTo(2);
      complete(session, again);
      assertThat(bodyOf(received(session))).isEqualTo("a2");
    }
  }

  @Test
  @ContractRule("S-04")
  void laterMessagesWaitWhileTheRetryIsDelayed() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(DELAY));
      assertNothingToReceive(session);
    }
    assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    sent("a", "a3");
    assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());

    pass(DELAY);
    assertThat(drained()).containsExactly("a1", "a2", "a3");
  }

  @Test
  @ContractRule("S-04")
  void whatWasHandedOutBehindARetryIsVoidAndHadNoAttempt() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    try (var session = accepted()) {
      var batch = received(session, 3);
      settle(session, batch.get(0), Settlement.retryAfter(Duration.ZERO));
      assertOutOfOrder(() -> complete(session, batch.get(1)));

      var again = received(session, 3);
      assertThat(bodiesOf(again)).containsExactly("a1", "a2", "a3");
      assertThat(again).extracting(Delivery::attempt).containsExactly(2, 1, 1);
      complete(session, again.toArray(Delivery[]::new));
    }
  }

  @Test
  @ContractRule("S-04")
  void aRetryDoesNotHoldBackOtherSessions() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    sent("b", "b1");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ofHours(1)));
    }
    assertThat(drained()).containsExactly("b1");
  }

  @Test
  @ContractRule("S-06")
  void afterTheLastAttemptTheMessageBecomesADeadLetterAndTheSessionGoesOn() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(3));
    sent("a", "a1", "a2");
    failHead(3);

    assertThat(drained()).containsExactly("a2");
    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.message().payload().asText()).isEqualTo("a1");
              assertThat(letter.attempts()).isEqualTo(3);
              assertThat(letter.lastError()).isEqualTo("attempt 3 failed");
              assertThat(letter.reason()).isNotBlank();
            });
  }

  @Test
  @ContractRule("S-06")
  void leasesThatRunOutUseUpAttemptsToo() throws Exception {
    declared(shortLock().withMaxDeliveryCount(2));
    sent("a", "a1", "a2");
    for (int attempt = 1; attempt <= 2; attempt++) {
      assertThat(received(accepted()).attempt()).isEqualTo(attempt);
      pass(LOCK);
    }

    assertThat(drained()).containsExactly("a2");
    assertThat(deadLetters()).singleElement().extracting(letter -> letter.attempts()).isEqualTo(2);
  }

  @Test
  @ContractRule("S-06")
  void aRetryWithoutLimitGoesOnAfterTheLastAttempt() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(1));
    sent("a", "a1");
    for (int attempt = 1; attempt <= 3; attempt++) {
      try (var session = accepted()) {
        var delivery = received(session);
        assertThat(delivery.attempt()).isEqualTo(attempt);
        settle(session, delivery, Settlement.keepRetrying(Duration.ZERO, "not yet"));
      }
    }
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("S-06")
  void aPostponedMessageStaysAtTheHeadAndUsesUpNoAttempt() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(2));
    sent("a", "a1", "a2");
    for (int turn = 1; turn <= 4; turn++) {
      try (var session = accepted()) {
        var delivery = received(session);
        assertThat(bodyOf(delivery)).isEqualTo("a1");
        assertThat(delivery.attempt()).isEqualTo(1);
        settle(session, delivery, Settlement.postpone(Duration.ZERO, "the endpoint is down"));
      }
    }
    failHead(2);

    assertThat(drained()).containsExactly("a2");
    assertThat(deadLetters()).singleElement().extracting(letter -> letter.attempts()).isEqualTo(2);
  }

  @Test
  @ContractRule("S-06")
  void theSessionIsParkedWhereThePolicySaysSo() throws Exception {
    if (!provider().capabilities().parksSessions()) {
      skip("the provider cannot park sessions");
    }
    declared(
        QueueSettings.ordered()
            .withMaxDeliveryCount(2)
            .withPoisonPolicy(PoisonPolicy.PARK_SESSION));
    sent("a", "a1", "a2");
    sent("b", "b1");
    failHead(2);

    assertThat(drained()).containsExactly("b1");
    assertThat(tryAccept("a"))
        .isInstanceOfSatisfying(
            AcceptResult.SetAside.class,
            aside -> {
              assertThat(aside.status()).isEqualTo(SessionStatus.PARKED);
              assertThat(aside.reason()).contains("attempt 2 failed");
            });
    assertThat(deadLetters()).isEmpty();
  }

  @Test
  @ContractRule("S-06")
  void theSessionWaitsForItsMessageWhereThePolicyIsToBlock() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(1).withPoisonPolicy(PoisonPolicy.BLOCK));
    sent("a", "a1", "a2");
    failHead(3);

    assertThat(drained()).containsExactly("a1", "a2");
  }

  /** Fails the first message of session {@code a} in several holds. */
  private void failHead(int times) throws InterruptedException {
    for (int attempt = 1; attempt <= times; attempt++) {
      try (var session = acceptedA()) {
        var delivery = received(session);
        assertThat(delivery.attempt()).isEqualTo(attempt);
        settle(
            session,
            delivery,
            Settlement.retryAfter(Duration.ZERO, "attempt " + attempt + " failed"));
      }
    }
  }

  private HeldSession acceptedA() throws InterruptedException {
    var session = accepted();
    if (session.id().value().equals("a")) {
      return session;
    }
    var other = accepted();
    session.close();
    assertThat(other.id().value()).isEqualTo("a");
    return other;
  }

  private static Settled settled(Delivery delivery, Settlement settlement) {
    return new Settled(delivery.sequence(), settlement);
  }

  private static void assertOutOfOrder(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(OutOfOrder.class);
  }
}
