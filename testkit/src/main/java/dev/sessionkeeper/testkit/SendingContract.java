package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException.UnknownQueue;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rules about order, durability and duplicates of sent messages. */
public abstract class SendingContract extends ContractFixture {

  @Test
  @ContractRule("Q-01")
  void messagesOfOneSessionComeInTheOrderInWhichTheyWereSent() throws Exception {
    ordered();
    sent("a", "a1", "a2", "a3", "a4", "a5");

    assertThat(drained()).containsExactly("a1", "a2", "a3", "a4", "a5");
  }

  @Test
  @ContractRule("Q-01")
  void aBatchKeepsItsOrder() throws Exception {
    ordered();
    int size = Math.min(10, provider().capabilities().limits().maxBatch());
    var bodies = IntStream.rangeClosed(1, size).mapToObj(i -> "a" + i).toList();

    provider().send(queue(), bodies.stream().map(body -> message("a", body)).toList());

    assertThat(drained()).isEqualTo(bodies);
  }

  @Test
  @ContractRule("Q-01")
  void sequencesGrowWithinASession() throws Exception {
    ordered();
    sent("a", "a1");
    sent("b", "b1");
    sent("a", "a2");

    try (var session = accepted()) {
      var deliveries = received(session, 2);
      assertThat(bodiesOf(deliveries)).containsExactly("a1", "a2");
      assertThat(deliveries.get(0).sequence()).isLessThan(deliveries.get(1).sequence());
    }
  }

  @Test
  @ContractRule("Q-01")
  void sendersThatFollowEachOtherOnDifferentThreadsKeepTheirOrder() throws Exception {
    ordered();
    var expected = new ArrayList<String>();
    for (int i = 0; i < 8; i++) {
      var body = "a" + i;
      expected.add(body);
      Thread.ofVirtual().start(() -> sent("a", body)).join();
    }

    assertThat(drained()).isEqualTo(expected);
  }

  @Test
  @ContractRule("Q-01")
  void aMessageThatIsSentWhileItsSessionIsHeldComesBehindTheOthers() throws Exception {
    ordered();
    sent("a", "a1");
    try (var session = accepted()) {
      var first = received(session);
      sent("a", "a2");
      complete(session, first);
      assertThat(bodyOf(received(session))).isEqualTo("a2");
    }
  }

  @Test
  @ContractRule("Q-02")
  void aMessageIsThereWhenItsSendReturns() throws Exception {
    ordered();
    var message = message("a", "a1").withProperty("colour", "blue");

    assertThat(sent(message)).isInstanceOf(SendOutcome.Stored.class);

    try (var session = accepted()) {
      var delivery = received(session);
      assertThat(delivery.message()).isEqualTo(message);
      assertThat(delivery.attempt()).isEqualTo(1);
    }
  }

  @Test
  @ContractRule("Q-02")
  void durabilityIsDeclaredTruthfully() throws Exception {
    ordered();
    sent("a", "a1");
    provider().close();

    try (var reopened = createProvider(time().source())) {
      boolean there = reopened.settings(queue()).isPresent() && hasMessage(reopened);
      assertThat(there).isEqualTo(provider().capabilities().durable());
    }
  }

  private boolean hasMessage(QueueProvider reopened) throws InterruptedException {
    var result = reopened.sessions(queue()).acceptNext(OWNER, time().patience());
    return result instanceof AcceptResult.Accepted accepted
        && bodyOf(received(accepted.session())).equals("a1");
  }

  @Test
  @ContractRule("Q-03")
  void theSameIdIsStoredOnceAndTheSecondSendSaysSo() throws Exception {
    ordered();
    var message = message("a", "a1").withId(MessageId.of("order-17"));

    var first = sent(message);
    var second = sent(message);

    assertThat(first).isInstanceOf(SendOutcome.Stored.class);
    assertThat(second).isInstanceOf(SendOutcome.Duplicate.class);
    assertThat(second.id()).isEqualTo(message.id());
    assertThat(drained()).containsExactly("a1");
  }

  @Test
  @ContractRule("Q-03")
  void anIdIsRememberedAfterItsMessageWasCompleted() throws Exception {
    ordered();
    var message = message("a", "a1").withId(MessageId.of("order-18"));
    sent(message);
    assertThat(drained()).containsExactly("a1");

    assertThat(sent(message)).isInstanceOf(SendOutcome.Duplicate.class);
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-03")
  void theSameIdTwiceInOneBatchIsStoredOnce() throws Exception {
    ordered();
    var message = message("a", "a1").withId(MessageId.of("order-19"));

    var outcomes = provider().send(queue(), List.of(message, message, message("a", "a2")));

    assertThat(outcomes.get(0)).isInstanceOf(SendOutcome.Stored.class);
    assertThat(outcomes.get(1)).isInstanceOf(SendOutcome.Duplicate.class);
    assertThat(drained()).containsExactly("a1", "a2");
  }

  @Test
  @ContractRule("Q-03")
  void equalBodiesWithDifferentIdsAreDifferentMessages() throws Exception {
    ordered();
    sent("a", "same", "same");

    assertThat(drained()).containsExactly("same", "same");
  }

  @Test
  @ContractRule("Q-03a")
  void anIdIsForgottenAfterTheDuplicateWindow() throws Exception {
    declared(QueueSettings.ordered().withDuplicateWindow(Duration.ofSeconds(1)));
    var message = message("a", "a1").withId(MessageId.of("order-20"));
    sent(message);
    pass(Duration.ofSeconds(1));

    assertThat(sent(message)).isInstanceOf(SendOutcome.Stored.class);
    assertThat(drained()).containsExactly("a1", "a1");
  }

  @Test
  @ContractRule("Q-02")
  void allThatWasSentByManyThreadsIsThere() throws Exception {
    ordered();
    var senders = new ArrayList<Thread>();
    for (int s = 0; s < 4; s++) {
      var session = "s" + s;
      senders.add(Thread.ofVirtual().start(() -> sent(session, session + "-1", session + "-2")));
    }
    for (var sender : senders) {
      sender.join();
    }

    assertThat(drained())
        .containsExactlyInAnyOrder("s0-1", "s0-2", "s1-1", "s1-2", "s2-1", "s2-2", "s3-1", "s3-2")
        .containsSubsequence("s0-1", "s0-2")
        .containsSubsequence("s3-1", "s3-2");
  }

  @Test
  @ContractRule("Q-02")
  void bodiesComeBackInTheFormInWhichTheyWereSent() throws Exception {
    ordered();
    var payloads =
        List.of(
            Payload.json("{\"a\": [1, 2]}"),
            Payload.text("grüß ☕", "text/markdown"),
            Payload.bytes(new byte[] {0, -1, 127}, "application/x-raw"),
            Payload.empty());
    for (var payload : payloads) {
      sent(Message.of(SessionId.of("a"), payload));
    }

    try (var session = accepted()) {
      assertThat(received(session, payloads.size()))
          .extracting(delivery -> delivery.payload())
          .isEqualTo(payloads);
    }
  }

  @Test
  @ContractRule("Q-02")
  void aSendToAQueueThatDoesNotExistIsRefused() {
    assertThatThrownBy(() -> sent("a", "a1")).isInstanceOf(UnknownQueue.class);
  }
}
