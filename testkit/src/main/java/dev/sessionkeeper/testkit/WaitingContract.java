package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.AddressableSessions;
import dev.sessionkeeper.spi.InspectableQueues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Expired leases, the order of sessions, and waits: S-05, S-07, S-08, S-10, S-11. */
public abstract class WaitingContract extends HoldingContract {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration WAIT = Duration.ofSeconds(1);

  @Test
  @ContractRule("S-05")
  void aLeaseThatRunsOutFreesTheSessionAndItsMessageComesFirst() throws Exception {
    orderedWithShortLock();
    sent("a", "a1", "a2");
    assertThat(bodyOf(received(accepted()))).isEqualTo("a1");
    pass(LOCK);

    try (var session = accepted()) {
      var again = received(session);
      assertThat(bodyOf(again)).isEqualTo("a1");
      assertThat(again.attempt()).isEqualTo(2);
      complete(session, again);
      assertThat(bodyOf(received(session))).isEqualTo("a2");
    }
  }

  @Test
  @ContractRule("S-05")
  void ofABatchInHandOnlyTheFirstHadItsAttempt() throws Exception {
    orderedWithShortLock();
    sent("a", "a1", "a2", "a3");
    received(accepted(), 3);
    pass(LOCK);

    try (var session = accepted()) {
      var again = received(session, 3);
      assertThat(bodiesOf(again)).containsExactly("a1", "a2", "a3");
      assertThat(again).extracting(delivery -> delivery.attempt()).containsExactly(2, 1, 1);
    }
  }

  @Test
  @ContractRule("S-05")
  void aMessageThatWasNotHandedOutHadNoAttempt() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    accepted();
    pass(LOCK);

    try (var session = accepted()) {
      assertThat(received(session).attempt()).isEqualTo(1);
    }
  }

  @Test
  @ContractRule("S-05")
  void aLeaseThatIsRenewedDoesNotRunOut() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    try (var session = accepted()) {
      var delivery = received(session);
      for (int i = 0; i < 5; i++) {
        pass(LOCK.dividedBy(4));
        session.renew();
      }
      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
      complete(session, delivery);
    }
  }

  @Test
  @ContractRule("S-07")
  void theSessionThatHasWaitedLongestComesFirst() throws Exception {
    declared(QueueSettings.ordered());
    for (var session : List.of("c", "a", "d", "b")) {
      sent(session, session + "1");
      pass(Duration.ofMillis(20));
    }

    var order = new ArrayList<String>();
    for (int i = 0; i < 4; i++) {
      order.add(accepted().id().value());
    }
    assertThat(order).containsExactly("c", "a", "d", "b");
  }

  @Test
  @ContractRule("S-07")
  void aSessionJustReleasedIsNotPickedAgainWhileOthersWait() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3", "a4");
    pass(Duration.ofMillis(20));
    sent("b", "b1", "b2");

    var order = new ArrayList<String>();
    for (int i = 0; i < 5; i++) {
      try (var session = accepted()) {
        var delivery = received(session);
        order.add(bodyOf(delivery));
        complete(session, delivery);
      }
      pass(Duration.ofMillis(20));
    }
    assertThat(order).containsExactly("a1", "b1", "a2", "b2", "a3");
  }

  @Test
  @ContractRule("S-08")
  void closingFreesTheSessionAtOnce() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    var session = accepted();
    complete(session, received(session));
    session.close();

    try (var next = accepted()) {
      assertThat(bodyOf(received(next))).isEqualTo("a2");
    }
  }

  @Test
  @ContractRule("S-08")
  void whatWasInHandAtTheCloseComesAgainAndHadNoAttempt() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    var session = accepted();
    received(session, 2);
    session.close();
    session.close();

    try (var next = accepted()) {
      var again = received(next, 2);
      assertThat(bodiesOf(again)).containsExactly("a1", "a2");
      assertThat(again).extracting(delivery -> delivery.attempt()).containsExactly(1, 1);
    }
  }

  @Test
  @ContractRule("S-08")
  void anEmptySessionLeavesNothingBehind() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    assertThat(drained()).containsExactly("a1");
    pass(LOCK);

    var queues = provider(InspectableQueues.class);
    assertThat(queues.inspect(queue(), Optional.empty(), Page.Request.first(10)).items()).isEmpty();
    assertThat(queues.stats(queue()))
        .satisfies(
            stats -> {
              assertThat(stats.depth()).isZero();
              assertThat(stats.readySessions()).isZero();
              assertThat(stats.heldSessions()).isZero();
            });
  }

  @Test
  @ContractRule("S-10")
  void noSessionIsAResultAndNotAnError() throws Exception {
    ordered();
    assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    assertThat(provider().sessions(queue()).hasReadySession()).isFalse();
  }

  @Test
  @ContractRule("S-10")
  void aChosenSessionWithoutWorkIsAResultAndNotAnError() throws Exception {
    ordered();
    sent("b", "b1");
    assertThat(tryAccept("a")).isEqualTo(new AcceptResult.NoSession());
  }

  @Test
  @ContractRule("S-10")
  void noMessageYetIsAResultAndNotAnError() throws Exception {
    ordered();
    sent("a", "a1");
    try (var session = accepted()) {
      complete(session, received(session));
      assertNothingToReceive(session);
    }
  }

  @Test
  @ContractRule("S-10")
  void waitingForASessionEndsWhenItShould() throws Exception {
    ordered();
    var result = time().endsAfter(WAIT, () -> provider().sessions(queue()).acceptNext(OWNER, WAIT));
    assertThat(result).isEqualTo(new AcceptResult.NoSession());
  }

  @Test
  @ContractRule("S-10")
  void waitingForAMessageEndsWhenItShould() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      complete(session, received(session));
      assertThat(time().endsAfter(WAIT, () -> session.receive(1, WAIT))).isEmpty();
    }
  }

  @Test
  @ContractRule("S-10")
  void waitingForAChosenSessionEndsWhenItShould() throws Exception {
    ordered();
    var sessions = sessions(AddressableSessions.class);
    var result = time().endsAfter(WAIT, () -> sessions.accept(SessionId.of("a"), OWNER, WAIT));
    assertThat(result).isEqualTo(new AcceptResult.NoSession());
  }

  @Test
  @ContractRule("S-10")
  void waitingEndsAsSoonAsThereIsWork() throws Exception {
    ordered();
    var waiting = time().begin(() -> provider().sessions(queue()).acceptNext(OWNER, LONG));
    sent("a", "a1");

    assertThat(waiting.get(10, TimeUnit.SECONDS)).isInstanceOf(AcceptResult.Accepted.class);
  }

  @Test
  @ContractRule("S-10")
  void waitingForAMessageEndsAsSoonAsItComes() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      complete(session, received(session));
      var waiting = time().begin(() -> session.receive(1, LONG));
      sent("a", "a2");

      assertThat(bodiesOf(waiting.get(10, TimeUnit.SECONDS))).containsExactly("a2");
    }
  }

  @Test
  @ContractRule("S-10")
  void waitingForAChosenSessionEndsAsSoonAsItHasWork() throws Exception {
    ordered();
    var sessions = sessions(AddressableSessions.class);
    var waiting = time().begin(() -> sessions.accept(SessionId.of("a"), OWNER, LONG));
    sent("b", "b1");
    sent("a", "a1");

    assertThat(waiting.get(10, TimeUnit.SECONDS))
        .isInstanceOfSatisfying(
            AcceptResult.Accepted.class,
            accepted -> assertThat(accepted.session().id()).isEqualTo(SessionId.of("a")));
  }

  @Test
  @ContractRule("S-10")
  void oneReadySessionEndsTheWaitOfOneWaiter() throws Exception {
    declared(QueueSettings.ordered());
    var waiters = new ArrayList<Future<AcceptResult>>();
    for (int i = 0; i < 4; i++) {
      var owner = Owner.of("waiter-" + i);
      waiters.add(time().begin(() -> provider().sessions(queue()).acceptNext(owner, LONG)));
    }

    for (int session = 1; session <= waiters.size(); session++) {
      sent("s" + session, "m");
      int expected = session;
      Eventually.holds(expected + " waiters have a session", () -> done(waiters) >= expected);
      Eventually.staysFalse(() -> done(waiters) > expected);
      assertThat(done(waiters)).as("waiters that ended").isEqualTo(expected);
    }
    for (var waiter : waiters) {
      assertThat(waiter.get()).isInstanceOf(AcceptResult.Accepted.class);
    }
  }

  private static int done(List<Future<AcceptResult>> waiters) {
    return (int) waiters.stream().filter(Future::isDone).count();
  }

  @Test
  @ContractRule("S-11")
  void aNodeWhoseClockRunsADayAheadTakesNoLease() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      var delivery = received(session);
      time().jumpWallClock(Duration.ofDays(1));

      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
      complete(session, delivery);
      session.renew();
      complete(session, received(session));
    }
  }

  @Test
  @ContractRule("S-11")
  void aNodeWhoseClockIsADayBehindKeepsNoLease() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);
    time().jumpWallClock(Duration.ofDays(-1));
    pass(LOCK);

    assertLost(() -> complete(session, delivery));
    assertThat(drained()).containsExactly("a1");
  }
}
