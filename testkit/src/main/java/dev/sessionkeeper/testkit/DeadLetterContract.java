package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Dead letters, and their replay: D-01 to D-03. */
public abstract class DeadLetterContract extends StateContract {
  private static final Selection ALL = new Selection.All();

  @Test
  @ContractRule("D-01")
  void aDeadLetterKeepsEverything() throws Exception {
    declared(QueueSettings.ordered());
    var message = message("a", "a1").withId(MessageId.of("m-1")).withProperty("colour", "blue");
    var before = time().source().instant().minusSeconds(1);
    var stored = (SendOutcome.Stored) sent(message);
    try (var session = accepted()) {
      settle(session, received(session), Settlement.retryAfter(Duration.ZERO, "first"));
      settle(session, received(session), Settlement.deadLetter("unreadable", "line 3, column 7"));
    }

    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.message()).isEqualTo(message);
              if (stored.sequence() != SendOutcome.UNKNOWN_SEQUENCE) {
                assertThat(letter.sequence()).isEqualTo(stored.sequence());
              }
              assertThat(letter.attempts()).isEqualTo(2);
              assertThat(letter.reason()).isEqualTo("unreadable");
              assertThat(letter.lastError()).isEqualTo("line 3, column 7");
              assertThat(letter.enqueuedAt()).isAfter(before);
              assertThat(letter.deadAt()).isAfterOrEqualTo(letter.enqueuedAt());
              assertThat(letter.replays()).isZero();
            });
  }

  @Test
  @ContractRule("D-01")
  void theSessionGoesOnBehindADeadLetter() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2");
    kill("a", "a1");

    assertThat(drained()).containsExactly("a2");
  }

  @Test
  @ContractRule("D-01")
  void deadLettersAreListedInPagesAndOfOneSession() throws Exception {
    declared(QueueSettings.ordered());
    for (int i = 1; i <= 5; i++) {
      sent("a", "a" + i);
      kill("a", "a" + i);
    }
    sent("b", "b1");
    kill("b", "b1");

    assertThat(pagedBodies(Optional.empty())).containsExactly("a1", "a2", "a3", "a4", "a5", "b1");
    assertThat(pagedBodies(Optional.of(SessionId.of("b")))).containsExactly("b1");
    assertThat(pagedBodies(Optional.of(SessionId.of("c")))).isEmpty();
  }

  @Test
  @ContractRule("D-02")
  void replayedMessagesComeBeforeNewerOnesInTheirOldOrder() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3", "a4");
    kill("a", "a1");
    kill("a", "a2");
    sent("a", "a5");

    assertThat(replayable(ALL)).isEqualTo(2);
    assertThat(replay(ALL)).isEqualTo(2);

    assertThat(drained()).containsExactly("a1", "a2", "a3", "a4", "a5");
  }

  @Test
  @ContractRule("D-02a")
  void theOrderOfDyingDoesNotMatter() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1", "a2", "a3");
    var letters = List.of("a1", "a2", "a3");
    for (var body : letters) {
      kill("a", body);
    }
    // The second dead letter is replayed alone and becomes a dead letter again, so it is the
    // youngest.
    var second = deadLetters().get(1).message().id();
    assertThat(replay(new Selection.OfMessages(List.of(second)))).isEqualTo(1);
    kill("a", "a2");

    assertThat(replay(ALL)).isEqualTo(3);
    assertThat(drained()).containsExactly("a1", "a2", "a3");
  }

  @Test
  @ContractRule("D-02a")
  void aReplayedMessageBeginsAgainAtTheFirstAttemptAndIsMarked() throws Exception {
    declared(QueueSettings.ordered().withMaxDeliveryCount(2));
    sent("a", "a1");
    for (int i = 0; i < 2; i++) {
      try (var session = accepted()) {
        settle(session, received(session), Settlement.retryAfter(Duration.ZERO, "no"));
      }
    }
    replay(ALL);
    try (var session = accepted()) {
      var delivery = received(session);
      assertThat(delivery.attempt()).isEqualTo(1);
      settle(session, delivery, Settlement.deadLetter("still no"));
    }
    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.replays()).isEqualTo(1);
              assertThat(letter.attempts()).isEqualTo(1);
            });
  }

  @Test
  @ContractRule("D-02a")
  void aMessageThatDiedOfAgeLivesAgain() throws Exception {
    declared(QueueSettings.ordered());
    sent(message("a", "old").withTtl(Duration.ofSeconds(1)));
    pass(Duration.ofMillis(1500));
    assertThat(deadLetters()).hasSize(1);

    assertThat(replay(ALL)).isEqualTo(1);
    assertThat(drained()).containsExactly("old");
  }

  @Test
  @ContractRule("D-03")
  void replayingTwiceHasOneEffect() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    kill("a", "a1");

    assertThat(replay(ALL)).isEqualTo(1);
    assertThat(replay(ALL)).isZero();

    assertThat(deadLetters()).isEmpty();
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("D-03")
  void aDryRunTellsAndChangesNothing() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    sent("b", "b1");
    kill("a", "a1");
    kill("b", "b1");
    var ofA = new Selection.OfSession(SessionId.of("a"));

    assertThat(replayable(ALL)).isEqualTo(2);
    assertThat(replayable(ofA)).isEqualTo(1);
    assertThat(deadLetters()).hasSize(2);
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("D-03")
  void onlyWhatWasChosenIsPutBack() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    sent("b", "b1");
    kill("a", "a1");
    kill("b", "b1");

    assertThat(replay(new Selection.OfSession(SessionId.of("b")))).isEqualTo(1);
    assertThat(replay(new Selection.OfMessages(List.of(MessageId.of("unknown"))))).isZero();

    assertThat(drained()).containsExactly("b1");
    assertThat(deadLetters())
        .extracting(letter -> letter.message().payload())
        .containsExactly(Payload.text("a1"));
  }

  @Test
  @ContractRule("D-03")
  void aDiscardedLetterIsGoneForGood() throws Exception {
    declared(QueueSettings.ordered());
    sent("a", "a1");
    kill("a", "a1");
    var queues = provider(DeadLetterQueues.class);
    var id = deadLetters().getFirst().id();

    assertThat(queues.discard(queue(), id)).isTrue();
    assertThat(queues.discard(queue(), id)).isFalse();
    assertThat(queues.discard(queue(), "no such id")).isFalse();
    assertThat(replay(ALL)).isZero();
    assertThat(drained()).isEmpty();
  }

  /** Dead-letters the first message of a session, which must be the only one with work. */
  private void kill(String session, String body) throws InterruptedException {
    try (var held = accepted()) {
      assertThat(held.id().value()).isEqualTo(session);
      var delivery = received(held);
      assertThat(bodyOf(delivery)).isEqualTo(body);
      settle(held, delivery, Settlement.deadLetter("killed"));
    }
  }

  private int replay(Selection selection) {
    return provider(DeadLetterQueues.class).replay(queue(), selection);
  }

  private int replayable(Selection selection) {
    return provider(DeadLetterQueues.class).countReplayable(queue(), selection);
  }

  private List<String> pagedBodies(Optional<SessionId> session) {
    var bodies = new ArrayList<String>();
    var request = Page.Request.first(2);
    while (true) {
      var page = provider(DeadLetterQueues.class).deadLetters(queue(), session, request);
      page.items().forEach(letter -> bodies.add(letter.message().payload().asText()));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(2);
      if (page.next().isEmpty()) {
        return bodies;
      }
      request = new Page.Request(2, page.next());
    }
  }
}
