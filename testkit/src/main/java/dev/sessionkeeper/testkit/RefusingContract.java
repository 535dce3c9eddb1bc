package dev.sessionkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sessionkeeper.KeeperException.LimitExceeded;
import dev.sessionkeeper.KeeperException.QueueConflict;
import dev.sessionkeeper.KeeperException.SessionModeMismatch;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Refused messages and limits. */
public abstract class RefusingContract extends SendingContract {

  @Test
  @ContractRule("Q-04")
  void aBatchWithAMessageThatDoesNotFitStoresNothing() throws Exception {
    ordered();
    var batch = List.of(message("a", "a1"), tooLarge("b"), message("c", "c1"));

    assertThatThrownBy(() -> provider().send(queue(), batch)).isInstanceOf(LimitExceeded.class);

    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-04")
  void aBatchIsStoredWholeAndEachMessageHasItsOutcome() throws Exception {
    ordered();
    var batch = List.of(message("a", "a1"), message("b", "b1"), message("c", "c1"));

    var outcomes = provider().send(queue(), batch);

    assertThat(outcomes).extracting(SendOutcome::id).isEqualTo(idsOf(batch));
    if (provider().capabilities().atomicBatches()) {
      assertThat(outcomes).hasOnlyElementsOfType(SendOutcome.Stored.class);
    }
    assertThat(drained())
        .containsExactlyInAnyOrderElementsOf(
            batch.stream()
                .filter(m -> !isRefused(outcomes.get(batch.indexOf(m))))
                .map(m -> m.payload().asText())
                .toList());
  }

  private static boolean isRefused(SendOutcome outcome) {
    return outcome instanceof SendOutcome.Refused;
  }

  private static List<MessageId> idsOf(List<Message> batch) {
    return batch.stream().map(Message::id).toList();
  }

  @Test
  @ContractRule("Q-05")
  void aMessageWithoutSessionIsRefusedByAnOrderedQueue() throws Exception {
    ordered();
    var batch = List.of(message("a", "a1"), Message.unordered(Payload.text("lost")));

    assertThatThrownBy(() -> provider().send(queue(), batch))
        .isInstanceOf(SessionModeMismatch.class);
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-05")
  void aMessageWithASessionIsRefusedByAnUnorderedQueue() {
    declared(QueueSettings.unordered());

    assertThatThrownBy(() -> sent("a", "a1")).isInstanceOf(SessionModeMismatch.class);
  }

  @Test
  @ContractRule("Q-05")
  void theWrongKindOfReceiveIsRefused() {
    ordered();
    assertThatThrownBy(() -> provider().messages(queue())).isInstanceOf(SessionModeMismatch.class);

    var unordered = newQueueName();
    provider().declare(unordered, QueueSettings.unordered());
    assertThatThrownBy(() -> provider().sessions(unordered))
        .isInstanceOf(SessionModeMismatch.class);
  }

  @Test
  @ContractRule("Q-05")
  void aModeIsForEverAndOtherSettingsAreNot() {
    assertThat(provider().declare(queue(), QueueSettings.ordered())).isTrue();
    assertThat(provider().declare(queue(), QueueSettings.ordered().withMaxDeliveryCount(7)))
        .isFalse();
    assertThat(provider().settings(queue()).orElseThrow().maxDeliveryCount()).isEqualTo(7);

    assertThatThrownBy(() -> declared(QueueSettings.unordered())).isInstanceOf(QueueConflict.class);
    assertThat(provider().queues()).contains(queue());
  }

  @Test
  @ContractRule("Q-06")
  void aBodyOverTheLimitIsRefusedNamingLimitAndValue() throws Exception {
    ordered();
    int limit = provider().capabilities().limits().maxBodyBytes();

    var refusal = catchThrowableOfType(LimitExceeded.class, () -> sent(tooLarge("a")));

    assertThat(refusal).isNotNull();
    assertThat(refusal.limit()).isEqualTo("maxBodyBytes");
    assertThat(refusal.allowed()).isEqualTo(limit);
    assertThat(refusal.actual()).isEqualTo(limit + 1L);
    assertThat(refusal).hasMessageContaining(String.valueOf(limit + 1));
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-06")
  void tooManyMessagesInOneBatchAreRefused() throws Exception {
    ordered();
    int limit = provider().capabilities().limits().maxBatch();
    var batch = IntStream.rangeClosed(0, limit).mapToObj(i -> message("a", "a" + i)).toList();

    var refusal = catchThrowableOfType(LimitExceeded.class, () -> provider().send(queue(), batch));

    assertThat(refusal).isNotNull();
    assertThat(refusal.limit()).isEqualTo("maxBatch");
    assertThat(refusal.actual()).isEqualTo(limit + 1L);
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-06")
  void tooManyPropertiesAreRefusedAndAsManyAsAllowedAreNot() {
    ordered();
    int limit = provider().capabilities().limits().maxProperties();

    assertThatThrownBy(() -> sent(withProperties(limit + 1)))
        .isInstanceOfSatisfying(
            LimitExceeded.class, refusal -> assertThat(refusal.limit()).isEqualTo("maxProperties"));
    assertThat(sent(withProperties(limit))).isInstanceOf(SendOutcome.Stored.class);
  }

  @Test
  @ContractRule("Q-07")
  void aMessageThatIsTooOldBecomesADeadLetterAndIsCounted() throws Exception {
    ordered();
    sent(message("a", "old").withTtl(Duration.ofSeconds(1)));
    pass(Duration.ofMillis(1500));

    assertThat(drained()).isEmpty();
    assertThat(deadLetters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.reason()).isEqualTo("expired");
              assertThat(letter.message().payload().asText()).isEqualTo("old");
              assertThat(letter.attempts()).isZero();
            });
  }

  @Test
  @ContractRule("Q-07")
  void aMessageThatIsTooOldDoesNotHoldBackTheNext() throws Exception {
    ordered();
    sent(message("a", "old").withTtl(Duration.ofSeconds(1)));
    sent("a", "young");
    pass(Duration.ofMillis(1500));

    try (var session = accepted()) {
      var delivery = received(session);
      assertThat(bodyOf(delivery)).isEqualTo("young");
      complete(session, delivery);
    }
    assertThat(drained()).isEmpty();
  }

  @Test
  @ContractRule("Q-07")
  void theQueueSaysHowOldAMessageMayBecome() throws Exception {
    declared(QueueSettings.ordered().withMessageTtl(Duration.ofSeconds(1)));
    sent("a", "a1", "a2");
    pass(Duration.ofMillis(1500));

    assertThat(drained()).isEmpty();
    assertThat(deadLetters()).extracting(DeadLetter::reason).containsExactly("expired", "expired");
  }

  @Test
  @ContractRule("Q-07")
  void aMessageInHandIsNotTooOld() throws Exception {
    ordered();
    sent(message("a", "a1").withTtl(Duration.ofSeconds(1)));
    try (var session = accepted()) {
      var delivery = received(session);
      pass(Duration.ofMillis(600));
      session.renew();
      pass(Duration.ofMillis(600));
      complete(session, delivery);
    }
    assertThat(deadLetters()).isEmpty();
  }

  /** Returns all dead letters of the queue, oldest first. */
  protected final List<DeadLetter> deadLetters() {
    return provider(DeadLetterQueues.class)
        .deadLetters(queue(), Optional.empty(), Page.Request.first(100))
        .items();
  }

  private Message tooLarge(String session) {
    var body = new byte[provider().capabilities().limits().maxBodyBytes() + 1];
    return Message.of(SessionId.of(session), Payload.bytes(body, "application/octet-stream"));
  }

  private static Message withProperties(int count) {
    return message("a", "a1")
        .withProperties(
            IntStream.range(0, count)
                .boxed()
                .collect(Collectors.toMap(i -> "p" + i, i -> "v" + i)));
  }
}
