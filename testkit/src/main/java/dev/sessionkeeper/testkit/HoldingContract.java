package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException.LockLost;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A session has one owner at a time, and a former owner can change nothing: S-01 and S-02. */
public abstract class HoldingContract extends RefusingContract {

  @Test
  @ContractRule("S-01")
  void aSecondAcceptIsRefusedWithTheTimeAtWhichTheSessionBecomesFree() throws Exception {
    ordered();
    sent("a", "a1");
    try (var session = accepted("a")) {
      var until = session.lease().until();
      assertThat(tryAccept("a"))
          .isInstanceOfSatisfying(
              AcceptResult.Locked.class,
              locked -> {
                assertThat(locked.until()).isEqualTo(until);
                assertThat(locked.until()).isAfter(time().source().instant());
              });
    }
  }

  @Test
  @ContractRule("S-01")
  void theTimeAtWhichASessionBecomesFreeMovesWithItsLease() throws Exception {
    ordered();
    sent("a", "a1");
    try (var session = accepted("a")) {
      var before = session.lease().until();
      pass(Duration.ofMillis(300));
      var renewed = session.renew();

      assertThat(renewed.until()).isAfter(before);
      assertThat(session.lease()).isEqualTo(renewed);
      assertThat(tryAccept("a")).isEqualTo(new AcceptResult.Locked(renewed.until()));
    }
  }

  @Test
  @ContractRule("S-01")
  void aHeldSessionIsNotHandedOutAgainAlthoughItHasMoreWork() throws Exception {
    ordered();
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      assertThat(bodyOf(received(session))).isEqualTo("a1");
      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
      sent("a", "a3");
      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    }
  }

  @Test
  @ContractRule("S-01")
  void ofManyWhoTryAtOnceOneGetsTheSession() throws Exception {
    ordered();
    sent("a", "a1");
    var tries = new ArrayList<Callable<AcceptResult>>();
    for (int i = 0; i < 8; i++) {
      var owner = Owner.of("owner-" + i);
      tries.add(() -> provider().sessions(queue()).acceptNext(owner, time().blink()));
    }

    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var winners = new ArrayList<HeldSession>();
      for (var result : threads.invokeAll(tries)) {
        if (result.get() instanceof AcceptResult.Accepted accepted) {
          winners.add(accepted.session());
        }
      }
      assertThat(winners).hasSize(1);
    }
  }

  @Test
  @ContractRule("S-01")
  void differentSessionsAreHeldByDifferentOwnersAtTheSameTime() throws Exception {
    ordered();
    sent("a", "a1");
    sent("b", "b1");
    try (var first = accepted();
        var second = accepted()) {
      assertThat(List.of(first.id().value(), second.id().value()))
          .containsExactlyInAnyOrder("a", "b");
      complete(second, received(second));
      complete(first, received(first));
    }
  }

  @Test
  @ContractRule("S-02")
  void everyAcquisitionRaisesTheEpoch() throws Exception {
    ordered();
    sent("a", "a1", "a2", "a3");
    long last = 0;
    for (int i = 0; i < 3; i++) {
      try (var session = accepted()) {
        assertThat(session.lease().epoch()).isGreaterThan(last);
        last = session.lease().epoch();
        complete(session, received(session));
      }
    }
    // Even if the session was empty, and perhaps forgotten, in between.
    sent("a", "a4");
    try (var session = accepted()) {
      assertThat(session.lease().epoch()).isGreaterThan(last);
    }
  }

  @Test
  @ContractRule("S-02")
  void anOldOwnerChangesNothing() throws Exception {
    orderedWithShortLock();
    sent("a", "a1", "a2");
    var old = accepted();
    var delivery = received(old);
    pass(LOCK);
    try (var successor = accepted()) {
      assertLost(() -> settle(old, delivery, Settlement.complete()));
      assertLost(() -> settle(old, delivery, Settlement.deadLetter("late")));
      assertLost(() -> settle(old, delivery, Settlement.retryAfter(Duration.ofHours(1))));
      assertLost(old::renew);
      assertLost(() -> old.receive(1, Duration.ZERO));

      assertThat(bodyOf(received(successor))).isEqualTo("a1");
    }
  }

  @Test
  @ContractRule("S-02")
  void anOldOwnerCannotWriteState() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    var old = accepted();
    received(old);
    pass(LOCK);
    try (var successor = accepted()) {
      var late = new SessionState.Write(new byte[] {1}, SessionState.ANY_VERSION);
      assertLost(() -> old.writeState(late));
      assertThat(successor.state()).isEqualTo(SessionState.none());
    }
  }

  @Test
  @ContractRule("S-02")
  void anOldOwnerCannotReleaseTheLeaseOfItsSuccessor() throws Exception {
    orderedWithShortLock();
    sent("a", "a1", "a2");
    var old = accepted();
    received(old);
    pass(LOCK);
    try (var successor = accepted()) {
      old.close();

      assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
      complete(successor, received(successor));
    }
  }

  @Test
  @ContractRule("S-02")
  void aLeaseThatRanOutIsLostEvenIfNobodyHasTakenTheSession() throws Exception {
    orderedWithShortLock();
    sent("a", "a1");
    var old = accepted();
    var delivery = received(old);
    pass(LOCK);

    assertLost(() -> complete(old, delivery));
    assertLost(old::renew);
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("S-02")
  void aClosedSessionIsLostToItsOwner() throws Exception {
    ordered();
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);
    session.close();

    assertLost(() -> complete(session, delivery));
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("S-02")
  void aLeaseCanBeResumedByItsEpochAndByNoOther() throws Exception {
    ordered();
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);
    var sessions = sessions(ResumableSessions.class);
    long epoch = session.lease().epoch();

    assertThat(sessions.resume(SessionId.of("a"), epoch + 1)).isEmpty();
    assertThat(sessions.resume(SessionId.of("a"), epoch - 1)).isEmpty();
    assertThat(sessions.resume(SessionId.of("b"), epoch)).isEmpty();
    var resumed = sessions.resume(SessionId.of("a"), epoch).orElseThrow();
    complete(resumed, delivery);
    resumed.close();

    assertThat(sessions.resume(SessionId.of("a"), epoch)).isEmpty();
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("S-02")
  void aResumedLeaseHandsOutAgainWhatIsStillOpen() throws Exception {
    ordered();
    sent("a", "a1", "a2", "a3");
    var session = accepted();
    var first = received(session);
    received(session);
    var sessions = sessions(ResumableSessions.class);
    long epoch = session.lease().epoch();

    complete(sessions.resume(SessionId.of("a"), epoch).orElseThrow(), first);
    var resumed = sessions.resume(SessionId.of("a"), epoch).orElseThrow();
    var again = resumed.receive(10, Duration.ZERO);

    assertThat(again)
        .extracting(delivery -> delivery.payload().asText())
        .containsExactly("a2", "a3");
    assertThat(again).extracting(Delivery::attempt).containsOnly(1);
    assertThat(resumed.receive(10, Duration.ZERO)).isEqualTo(again);
    session.close();
  }

  @Test
  @ContractRule("S-02")
  void aHandleOnALeaseThatIsNotHeldChangesNothing() throws Exception {
    ordered();
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);
    var sessions = sessions(ResumableSessions.class);
    long epoch = session.lease().epoch();
    var a = SessionId.of("a");

    for (long stale : List.of(epoch - 1, epoch + 1)) {
      assertLost(() -> sessions.handle(a, stale).receive(1, Duration.ZERO));
      assertLost(() -> complete(sessions.handle(a, stale), delivery));
      assertLost(() -> sessions.handle(a, stale).renew());
      assertLost(() -> sessions.handle(a, stale).state());
    }
    complete(sessions.handle(a, epoch), delivery);
    session.close();
    assertThat(drained()).isEmpty();
  }

  protected static void assertLost(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(LockLost.class);
  }
}
