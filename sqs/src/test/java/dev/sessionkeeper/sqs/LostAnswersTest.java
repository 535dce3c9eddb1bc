package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Calls that take effect while their answer is lost: no error says that nothing was changed. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SQS_REGION", matches = ".+")
@Tag("slow")
class LostAnswersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static TestSqs sqs;
  private static CutConnections cut;
  private static SqsClient client;
  private SqsQueueProvider provider;
  private QueueName queue;

  @BeforeAll
  static void start() {
    sqs = TestSqs.start();
    cut = new CutConnections(sqs.port());
    client = sqs.clientTo(cut.endpoint());
  }

  @AfterAll
  static void stop() {
    client.close();
    cut.close();
    sqs.close();
  }

  @BeforeEach
  void open() {
    provider = SqsQueueProvider.create(client);
    queue = QueueName.of("lost-" + UUID.randomUUID().toString().substring(0, 8));
    provider.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    cut.away(false);
    for (var operation : List.of("DeleteMessageBatch", "SendMessageBatch", "ListQueueTags")) {
      cut.loseAnswers(operation, 0);
    }
    provider.close();
  }

  @Test
  void aDeletionWhoseAnswerIsLostIsRepeatedAndDone() throws Exception {
    send();
    try (var session = accept()) {
      cut.loseAnswers("DeleteMessageBatch", 1);
      assertThat(complete(session)).succeedsWithin(PATIENCE);
    }
  }

  @Test
  void aDeletionThatIsNeverAnsweredHasAnUnknownOutcome() throws Exception {
    send();
    try (var session = accept()) {
      cut.loseAnswers("DeleteMessageBatch", 1000);
      assertThat(complete(session))
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .withCauseInstanceOf(KeeperException.OutcomeUnknown.class);
    }
  }

  @Test
  void aSendThatIsNeverAnsweredHasAnUnknownOutcomeAndIsStored() throws Exception {
    send();
    try (var session = accept()) {
      assertThat(complete(session)).succeedsWithin(PATIENCE);
    }
    cut.loseAnswers("SendMessageBatch", 1000);
    assertThatThrownBy(this::send).isInstanceOf(KeeperException.OutcomeUnknown.class);
    try (var session = accept()) {
      assertThat(session.receive(1, PATIENCE)).hasSize(1);
    }
  }

  @Test
  void aDeadLetterWhoseAnswerIsLostHasAnUnknownOutcome() throws Exception {
    send();
    try (var session = accept()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      cut.loseAnswers("SendMessageBatch", 1000);
      var dead = new Settled(delivery.sequence(), Settlement.deadLetter("bad"));
      assertThat(session.settle(List.of(dead)).toCompletableFuture())
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .withCauseInstanceOf(KeeperException.OutcomeUnknown.class);
    }
  }

  @Test
  void aCallThatNeverLeftIsUnavailable() {
    try (var nowhere = sqs.clientTo(java.net.URI.create("http://127.0.0.1:1"));
        var away = SqsQueueProvider.create(nowhere)) {
      assertThatThrownBy(() -> away.send(queue, List.of(message())))
          .isInstanceOf(KeeperException.Unavailable.class);
      assertThatThrownBy(() -> away.sessions(queue))
          .isInstanceOf(KeeperException.Unavailable.class);
      assertThatThrownBy(() -> away.declare(queue, QueueSettings.ordered()))
          .isInstanceOf(KeeperException.Unavailable.class);
    }
  }

  @Test
  void settingsThatCannotBeReadAgainAreKept() {
    var clock = SettableClock.create();
    try (var other = SqsQueueProvider.builder(client).time(clock).build()) {
      var message = message();
      other.send(queue, List.of(message));
      other.send(
          queue, List.of(message)); // The settings contain the length of the duplicate window.
      cut.loseAnswers("ListQueueTags", 1000);
      clock.advance(Duration.ofMinutes(1));
      assertThat(other.send(queue, List.of(message))).hasSize(1);
      assertThatThrownBy(() -> other.settings(queue))
          .isInstanceOf(KeeperException.Unavailable.class);
    }
  }

  @Test
  void aProcessorGoesOnWhenSqsIsBack() throws Exception {
    var handled = new CountDownLatch(2);
    try (var processor =
        SessionProcessor.builder(
                provider,
                queue,
                (delivery, context) -> {
                  handled.countDown();
                  return Settlement.complete();
                })
            .build()) {
      processor.start();
      send();
      Awaitility.await().atMost(PATIENCE).until(() -> handled.getCount() == 1);
      cut.away(true);
      assertThatThrownBy(this::send).isInstanceOf(KeeperException.class);
      cut.away(false);
      send();
      assertThat(handled.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static CompletableFuture<Void> complete(HeldSession session) throws InterruptedException {
    var delivery = session.receive(1, PATIENCE).getFirst();
    return session
        .settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
        .toCompletableFuture();
  }

  private static Message message() {
    return Message.of(SessionId.of("a"), Payload.text("m"));
  }

  private void send() {
    provider.send(queue, List.of(message()));
  }

  private HeldSession accept() throws InterruptedException {
    var result = provider.sessions(queue).acceptNext(Owner.of("test"), PATIENCE);
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) result).session();
  }
}
