package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.spi.SessionView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The operator's view and actions: O-01 to O-05. */
public abstract class OperatorContract extends UnorderedContract {

  @Test
  @ContractRule("O-01")
  void everySessionIsShownAsItStands() throws Exception {
    declared(QueueSettings.ordered());
    sent("held", "1", "2");
    var held = accepted();
    received(held);
    sent("waiting", "1");
    try (var waiting = accepted()) {
      settle(waiting, received(waiting), Settlement.retryAfter(Duration.ofHours(1), "no route"));
    }
    sent("ready", "1", "2", "3");

    assertThat(view("ready"))
        .satisfies(
            view -> {
              assertThat(view.status()).isEqualTo(SessionStatus.READY);
              assertThat(view.backlog()).isEqualTo(3);
              assertThat(view.owner()).isEmpty();
              assertThat(view.blockedReason()).isEmpty();
            });
    assertThat(view("held"))
        .satisfies(
            view -> {
              assertThat(view.status()).isEqualTo(SessionStatus.HELD);
              assertThat(view.backlog()).isEqualTo(2);
              assertThat(view.owner()).contains(OWNER);
              assertThat(view.epoch()).isEqualTo(held.lease().epoch());
              assertThat(view.lockedUntil()).contains(held.lease().until());
            });
    assertThat(view("waiting"))
        .satisfies(
            view -> {
              assertThat(view.status()).isEqualTo(SessionStatus.WAITING);
              assertThat(view.attempts()).isEqualTo(1);
              assertThat(view.blockedReason().orElseThrow()).contains("no route");
              assertThat(view.blockedSince()).isPresent();
            });
  }

  @Test
  @ContractRule("O-01")
  void theNumbersOfAQueueAddUp() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    sent("b", "b1");
    sent("c", "c1");
    var held = accepted();
    settle(held, received(held), Settlement.deadLetter("no"));

    var stats = provider(InspectableQueues.class).stats(queue());
    assertThat(stats.depth()).isEqualTo(3);
    assertThat(stats.readySessions()).isEqualTo(2);
    assertThat(stats.heldSessions()).isEqualTo(1);
    assertThat(stats.deadLetters()).isEqualTo(1);

    pass(Duration.ofSeconds(1));
    assertThat(provider(InspectableQueues.class).stats(queue()).oldestAge())
        .isGreaterThanOrEqualTo(Duration.ofMillis(900));
  }

  @Test
  @ContractRule("O-01")
  void sessionsThatWaitOrAreSetAsideAreCounted() throws Exception {
    declared(QueueSettings.ordered());
    sent("waits", "w1");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ofMinutes(5)));
    }
    sent("parked", "p1");
    sent("parked too", "p2");
    sent("paused", "p3");
    sent("ready", "r1");
    act("parked", Act.PARK);
    act("parked too", Act.PARK);
    act("paused", Act.PAUSE);

    var stats = provider(InspectableQueues.class).stats(queue());
    assertThat(stats.waitingSessions()).isEqualTo(1);
    assertThat(stats.parkedSessions()).isEqualTo(2);
    assertThat(stats.pausedSessions()).isEqualTo(1);
    assertThat(stats.readySessions()).isEqualTo(1);
  }

  @Test
  @ContractRule("O-02")
  void resumingASessionThatWaitsForItsRetryMakesItsHeadDueAtOnce() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ofMinutes(5)));
    }
    assertThat(act("a", Act.RESUME)).isEqualTo(1);
    assertThat(act("a", Act.RESUME)).isZero();

    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("O-01")
  void sessionsAreListedInPagesAndByStatus() throws Exception {
    declared(QueueSettings.ordered());
    for (var session : List.of("a", "b/1", "c", "d e", "f")) {
      sent(session, "m");
    }
    act("c", Act.PAUSE);

    assertThat(pagedIds(Optional.empty())).containsExactly("a", "b/1", "c", "d e", "f");
    assertThat(pagedIds(Optional.of(SessionStatus.READY))).containsExactly("a", "b/1", "d e", "f");
    assertThat(pagedIds(Optional.of(SessionStatus.PAUSED))).containsExactly("c");
    assertThat(pagedIds(Optional.of(SessionStatus.HELD))).isEmpty();
  }

  @Test
  @ContractRule("O-02")
  void aPausedSessionIsHandedOutToNobodyUntilItIsResumed() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    assertThat(act("a", Act.PAUSE)).isEqualTo(1);

    assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    assertThat(tryAccept("a"))
        .isInstanceOfSatisfying(
            AcceptResult.SetAside.class,
            aside -> {
              assertThat(aside.status()).isEqualTo(SessionStatus.PAUSED);
              assertThat(aside.reason()).isEqualTo("contract");
            });
    assertThat(view("a").blockedReason()).contains("contract");

    assertThat(act("a", Act.RESUME)).isEqualTo(1);
    assertThat(act("a", Act.RESUME)).isZero();
    assertThat(drained()).containsExactly("a1", "a2");
  }

  @Test
  @ContractRule("O-02")
  void pausingTakesTheSessionFromItsOwner() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);

    assertThat(act("a", Act.PAUSE)).isEqualTo(1);

    assertLost(() -> complete(session, delivery));
    assertThat(view("a").status()).isEqualTo(SessionStatus.PAUSED);
    act("a", Act.RESUME);
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("O-03")
  void aParkedSessionWaitsWithEverythingInIt() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.park("customer is locked"));
    }
    sent("a", "a3");

    assertThat(tryAcceptNext()).isEqualTo(new AcceptResult.NoSession());
    assertThat(view("a"))
        .satisfies(
            view -> {
              assertThat(view.status()).isEqualTo(SessionStatus.PARKED);
              assertThat(view.backlog()).isEqualTo(3);
              assertThat(view.blockedReason()).contains("customer is locked");
            });

    act("a", Act.RESUME);
    assertThat(drained()).containsExactly("a1", "a2", "a3");
  }

  @Test
  @ContractRule("O-03")
  void aPersonCanParkASession() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    assertThat(act("a", Act.PARK)).isEqualTo(1);
    assertThat(view("a").status()).isEqualTo(SessionStatus.PARKED);
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("O-02")
  void resumingMakesAWaitingHeadDueAtOnce() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ofHours(1)));
    }
    act("a", Act.PAUSE);
    act("a", Act.RESUME);

    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("Q-07a")
  void timeToLiveStandsStillWhileASessionIsParkedOrPaused() throws Exception {
    declared(QueueSettings.ordered().withMessageTtl(Duration.ofSeconds(2)));
    sent("parked", "p1", "p2");
    sent("paused", "q1");
    act("parked", Act.PARK);
    act("paused", Act.PAUSE);
    pass(Duration.ofSeconds(3));
    sent("parked", "p3");

    assertThat(act("parked", Act.RESUME)).isEqualTo(1);
    assertThat(act("paused", Act.RESUME)).isEqualTo(1);

    assertThat(deadLetters()).isEmpty();
    assertThat(drained()).containsExactlyInAnyOrder("p1", "p2", "p3", "q1");
  }

  @Test
  @ContractRule("Q-07a")
  void timeToLiveRunsOnAfterASessionIsResumed() throws Exception {
    declared(QueueSettings.ordered().withMessageTtl(Duration.ofSeconds(2)));
    sent("a", "a1");
    act("a", Act.PARK);
    pass(Duration.ofSeconds(3));
    act("a", Act.RESUME);
    pass(Duration.ofMillis(2500));

    assertThat(drained()).isEmpty();
    assertThat(deadLetters()).extracting(DeadLetter::reason).containsExactly("expired");
  }

  @Test
  @ContractRule("Q-07a")
  void timeToLiveStandsStillBehindAHeadThatBlocksItsSession() throws Exception {
    declared(
        QueueSettings.ordered()
            .withMessageTtl(Duration.ofSeconds(2))
            .withMaxDeliveryCount(1)
            .withPoisonPolicy(PoisonPolicy.BLOCK));
    sent("a", "a1", "a2");
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ofMillis(100)));
    }
    pass(Duration.ofSeconds(3));

    assertThat(drained()).containsExactly("a1", "a2");
    assertThat(deadLetters()).isEmpty();
  }

  @Test
  @ContractRule("O-04")
  void releasingTakesTheSessionFromItsOwnerWithoutCountingAnAttempt() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    var session = accepted();
    var delivery = received(session);

    assertThat(act("a", Act.RELEASE)).isEqualTo(1);
    assertThat(act("a", Act.RELEASE)).isZero();

    assertLost(() -> complete(session, delivery));
    try (var next = accepted()) {
      assertThat(received(next).attempt()).isEqualTo(1);
    }
  }

  @Test
  @ContractRule("O-05")
  void aPersonCanSetAsideTheFirstMessage() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");

    assertThat(act("a", Act.DEAD_LETTER_HEAD)).isEqualTo(1);

    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.message().payload().asText()).isEqualTo("a1");
              assertThat(letter.reason()).isEqualTo("contract");
            });
    assertThat(drained()).containsExactly("a2");
    assertThat(act("a", Act.DEAD_LETTER_HEAD)).isZero();
  }

  @Test
  @ContractRule("O-05")
  void aPersonCanSetAsideAllMessages() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    sent("b", "b1");
    var session = accepted();
    var delivery = received(session);

    assertThat(act("a", Act.DEAD_LETTER_ALL)).isEqualTo(3);

    assertLost(() -> complete(session, delivery));
    assertThat(deadLetters())
        .extracting(letter -> letter.message().payload().asText())
        .containsExactly("a1", "a2", "a3");
    assertThat(deadLetters()).extracting(DeadLetter::attempts).containsExactly(1, 0, 0);
    assertThat(drained()).containsExactly("b1");
  }

  private int act(String session, Act act) {
    return provider(OperableSessions.class).act(queue(), SessionId.of(session), act, "contract");
  }

  private SessionView view(String session) {
    return provider(InspectableQueues.class)
        .inspect(queue(), Optional.empty(), Page.Request.first(100))
        .items()
        .stream()
        .filter(view -> view.id().value().equals(session))
        .findFirst()
        .orElseThrow(() -> new AssertionError("Session " + session + " is not shown"));
  }

  private List<String> pagedIds(Optional<SessionStatus> status) {
    var ids = new ArrayList<String>();
    var request = Page.Request.first(2);
    while (true) {
      var page = provider(InspectableQueues.class).inspect(queue(), status, request);
      page.items().forEach(view -> ids.add(view.id().value()));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(2);
      if (page.next().isEmpty()) {
        return ids;
      }
      request = new Page.Request(2, page.next());
    }
  }
}
