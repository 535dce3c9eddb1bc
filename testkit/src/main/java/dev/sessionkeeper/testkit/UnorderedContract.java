package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.MessageSource.Receipted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rules for queues without sessions, in which each message is locked on its own. */
public abstract class UnorderedContract extends DeadLetterContract {
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final QueueSettings UNORDERED = QueueSettings.unordered();

  @Test
  @ContractRule("Q-02")
  void unorderedMessagesAreThereWhenTheirSendReturns() throws Exception {
    unordered();
    sentLoose("m1", "m2", "m3");

    var received = receivedLoose(3);

    assertThat(received)
        .extracting(r -> r.delivery().payload().asText())
        .containsExactlyInAnyOrder("m1", "m2", "m3");
    assertThat(received).extracting(Receipted::receipt).doesNotHaveDuplicates();
    received.forEach(r -> settle(r, Settlement.complete()));
    assertNothingLoose();
  }

  @Test
  @ContractRule("Q-03")
  void anUnorderedDuplicateIsStoredOnce() throws Exception {
    unordered();
    var message = Message.unordered(Payload.text("m1")).withId(MessageId.of("m-1"));

    assertThat(sent(message)).isInstanceOf(SendOutcome.Stored.class);
    assertThat(sent(message)).isInstanceOf(SendOutcome.Duplicate.class);

    settle(receivedLoose(1).getFirst(), Settlement.complete());
    assertNothingLoose();
  }

  @Test
  @ContractRule("S-01")
  void anUnorderedMessageIsInOneHandAtATime() throws Exception {
    unordered();
    sentLoose("m1");
    var received = receivedLoose(1).getFirst();

    assertThat(received.lockedUntil()).isAfter(received.delivery().enqueuedAt());
    assertNothingLoose();
    settle(received, Settlement.complete());
  }

  @Test
  @ContractRule("S-02")
  void aStaleReceiptChangesNothing() throws Exception {
    declared(UNORDERED.withLockDuration(LOCK));
    sentLoose("m1");
    var old = receivedLoose(1).getFirst();
    pass(LOCK);
    var current = receivedLoose(1).getFirst();

    assertThat(current.receipt()).isNotEqualTo(old.receipt());
    assertLost(() -> settle(old, Settlement.complete()));
    assertLost(() -> settle(old, Settlement.deadLetter("late")));
    assertLost(() -> source().renew(old.receipt()));
    assertLost(() -> finished(source().settle("no such receipt", Settlement.complete())));

    settle(current, Settlement.retryAfter(Duration.ZERO));
    assertThat(receivedLoose(1).getFirst().delivery().attempt()).isEqualTo(3);
  }

  @Test
  @ContractRule("S-05")
  void anUnorderedLockThatRunsOutBringsTheMessageBack() throws Exception {
    declared(UNORDERED.withLockDuration(LOCK));
    sentLoose("m1");
    assertThat(receivedLoose(1).getFirst().delivery().attempt()).isEqualTo(1);
    pass(LOCK);

    assertThat(receivedLoose(1).getFirst().delivery().attempt()).isEqualTo(2);
  }

  @Test
  @ContractRule("S-05")
  void anUnorderedLockThatIsRenewedHolds() throws Exception {
    declared(UNORDERED.withLockDuration(LOCK));
    sentLoose("m1");
    var received = receivedLoose(1).getFirst();
    for (int i = 0; i < 5; i++) {
      pass(LOCK.dividedBy(4));
      assertThat(source().renew(received.receipt())).isAfter(received.lockedUntil());
    }
    assertNothingLoose();
    settle(received, Settlement.complete());
  }

  @Test
  @ContractRule("S-06")
  void anUnorderedMessageBecomesADeadLetterAfterItsLastAttempt() throws Exception {
    declared(UNORDERED.withMaxDeliveryCount(2));
    sentLoose("m1");
    for (int attempt = 1; attempt <= 2; attempt++) {
      var received = receivedLoose(1).getFirst();
      assertThat(received.delivery().attempt()).isEqualTo(attempt);
      settle(received, Settlement.retryAfter(Duration.ZERO, "no"));
    }
    assertNothingLoose();
    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.attempts()).isEqualTo(2);
              assertThat(letter.lastError()).isEqualTo("no");
            });
  }

  @Test
  @ContractRule("S-10")
  void anUnorderedReceiveWaitsAsLongAsAsked() throws Exception {
    unordered();
    assertThat(time().endsAfter(WAIT, () -> source().receive(1, WAIT))).isEmpty();
  }

  @Test
  @ContractRule("S-10")
  void anUnorderedReceiveEndsAsSoonAsAMessageComes() throws Exception {
    unordered();
    var waiting = time().begin(() -> source().receive(1, Duration.ofSeconds(30)));
    sentLoose("m1");

    assertThat(waiting.get(10, TimeUnit.SECONDS)).hasSize(1);
  }

  @Test
  @ContractRule("S-06")
  void anUnorderedRetryComesAfterItsDelay() throws Exception {
    unordered();
    sentLoose("m1");
    settle(receivedLoose(1).getFirst(), Settlement.retryAfter(WAIT));
    assertNothingLoose();
    pass(WAIT);

    assertThat(receivedLoose(1).getFirst().delivery().attempt()).isEqualTo(2);
  }

  @Test
  @ContractRule("Q-07")
  void anUnorderedMessageThatIsTooOldBecomesADeadLetter() throws Exception {
    unordered();
    sent(Message.unordered(Payload.text("old")).withTtl(Duration.ofSeconds(1)));
    pass(Duration.ofMillis(1500));

    assertNothingLoose();
    assertThat(deadLetters()).extracting(DeadLetter::reason).containsExactly("expired");
  }

  @Test
  @ContractRule("D-01")
  void anUnorderedDeadLetterKeepsReasonAndErrorAndCanBeReplayed() throws Exception {
    unordered();
    sentLoose("m1");
    settle(receivedLoose(1).getFirst(), Settlement.deadLetter("bad", "line 3"));

    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.reason()).isEqualTo("bad");
              assertThat(letter.lastError()).isEqualTo("line 3");
              assertThat(letter.attempts()).isEqualTo(1);
            });
    var queues = provider(DeadLetterQueues.class);
    assertThat(queues.replay(queue(), new Selection.All())).isEqualTo(1);
    assertThat(receivedLoose(1).getFirst().delivery().attempt()).isEqualTo(1);
  }

  private void unordered() {
    declared(UNORDERED);
  }

  private MessageSource source() {
    return provider().messages(queue());
  }

  private void sentLoose(String... bodies) {
    for (var body : bodies) {
      sent(Message.unordered(Payload.text(body)));
    }
  }

  private List<Receipted> receivedLoose(int count) throws InterruptedException {
    var all = new ArrayList<Receipted>();
    while (all.size() < count) {
      var batch = source().receive(count - all.size(), time().patience());
      assertThat(batch).isNotEmpty();
      all.addAll(batch);
    }
    return all;
  }

  private void assertNothingLoose() throws InterruptedException {
    assertThat(source().receive(10, time().blink())).isEmpty();
  }

  private void settle(Receipted received, Settlement settlement) {
    finished(source().settle(received.receipt(), settlement));
  }
}
