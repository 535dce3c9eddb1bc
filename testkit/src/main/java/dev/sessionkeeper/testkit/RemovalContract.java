package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.InspectableQueues;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Queues that are purged and deleted: O-06 to O-08. */
public abstract class RemovalContract extends OperatorContract {

  @Test
  @ContractRule("O-06")
  void aPurgeDeletesWhatWaitsAndNothingElse() throws Exception {
    var queues = provider(RemovableQueues.class);
    ordered();
    sent("dead", "d1");
    settleNext(Settlement.deadLetter("no"));
    sent("a", "a1", "a2", "a3");
    sent("b", "b1");

    queues.purge(queue(), Part.MESSAGES);

    assertThat(drained()).isEmpty();
    assertThat(deadLetters()).hasSize(1);
    if (provider() instanceof InspectableQueues inspectable) {
      assertThat(inspectable.stats(queue()).depth()).isZero();
      assertThat(inspectable.stats(queue()).deadLetters()).isEqualTo(1);
    }
    sent("a", "a4", "a5");
    assertThat(drained()).containsExactly("a4", "a5");
  }

  @Test
  @ContractRule("O-06")
  void aPurgeOfAnUnorderedQueueDeletesWhatWaits() throws Exception {
    var queues = provider(RemovableQueues.class);
    declared(QueueSettings.unordered());
    for (int i = 0; i < 3; i++) {
      sent(Message.unordered(Payload.text("m" + i)));
    }

    queues.purge(queue(), Part.MESSAGES);

    assertThat(provider().messages(queue()).receive(10, time().blink())).isEmpty();
    sent(Message.unordered(Payload.text("new")));
    assertThat(provider().messages(queue()).receive(10, time().patience())).hasSize(1);
  }

  @Test
  @ContractRule("O-06a")
  void aPurgeTakesMessagesFromTheirOwnersAndCountsThem() throws Exception {
    var queues = provider(RemovableQueues.class);
    ordered();
    sent("a", "a1", "a2");
    sent("b", "b1");
    var session = accepted();
    var delivery = received(session);

    assertThat(queues.purge(queue(), Part.MESSAGES)).isEqualTo(3);
    assertThat(queues.purge(queue(), Part.MESSAGES)).isZero();

    assertLost(() -> complete(session, delivery));
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("O-07")
  void aDeletedQueueIsUnknown() throws Exception {
    var queues = provider(RemovableQueues.class);
    ordered();
    sent("a", "a1");
    try (var session = accepted()) {
      received(session);
      assertThat(queues.delete(queue())).isTrue();
    } catch (KeeperException e) {
      // The session was deleted with its queue.
    }

    assertThat(provider().settings(queue())).isEmpty();
    assertThat(provider().queues()).doesNotContain(queue());
    assertThatThrownBy(() -> sent("a", "a2")).isInstanceOf(KeeperException.UnknownQueue.class);
    assertThatThrownBy(() -> provider().sessions(queue()))
        .isInstanceOf(KeeperException.UnknownQueue.class);
    assertThat(queues.delete(queue())).isFalse();
    assertThatThrownBy(() -> queues.purge(queue(), Part.MESSAGES))
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  @Test
  @ContractRule("O-07a")
  void aQueueCreatedAfterADeletionBeginsEmpty() throws Exception {
    var queues = provider(RemovableQueues.class);
    ordered();
    sent("dead", "d1");
    settleNext(Settlement.deadLetter("no"));
    var same = message("a", "a1");
    sent(same);
    try (var session = accepted()) {
      session.writeState(
          new SessionState.Write(
              "before".getBytes(StandardCharsets.UTF_8), SessionState.ANY_VERSION));
    }
    queues.delete(queue());

    ordered();
    assertThat(drained()).isEmpty();
    assertThat(deadLetters()).isEmpty();
    sent(same);
    try (var session = accepted()) {
      assertThat(bodyOf(received(session))).isEqualTo("a1");
      assertThat(session.state().bytes()).isEmpty();
    }

    queues.delete(queue());
    declared(QueueSettings.unordered());
    provider().send(queue(), List.of(Message.unordered(Payload.text("loose"))));
    assertThat(provider().messages(queue()).receive(10, time().patience())).hasSize(1);
  }

  @Test
  @ContractRule("O-08")
  void deadLettersArePurgedAndWaitingMessagesStay() throws Exception {
    var queues = provider(RemovableQueues.class);
    ordered();
    sent("dead", "d1", "d2");
    settleNext(Settlement.deadLetter("no"));
    settleNext(Settlement.deadLetter("no"));
    sent("a", "a1");

    queues.purge(queue(), Part.DEAD_LETTERS);

    assertThat(deadLetters()).isEmpty();
    assertThat(drained()).containsExactly("a1");
  }

  private void settleNext(Settlement settlement) throws InterruptedException {
    try (var session = accepted()) {
      settle(session, received(session), settlement);
    }
  }
}
