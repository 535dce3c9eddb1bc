package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Requests that take effect while their answer is lost: no error says that nothing was changed. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
@Tag("slow")
class LostAnswersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static TestBroker broker;
  private ServiceBusQueueProvider provider;
  private QueueName queue;

  @BeforeAll
  static void startServer() {
    broker = TestBroker.start();
  }

  @AfterAll
  static void stopServer() {
    broker.close();
  }

  @BeforeEach
  void open() {
    provider = broker.provider(TimeSource.system());
    queue = QueueName.of("lost-" + UUID.randomUUID().toString().substring(0, 8));
    provider.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    broker.server().faults().loseAcknowledgements(0);
    provider.close();
  }

  @Test
  void aCompletionWhoseAnswerIsLostHasAnUnknownOutcome() throws Exception {
    send();
    try (var session = accept()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      session.renew(); // Answered after the mark that the message is open.
      broker.server().faults().loseSettlements(1);

      assertUnknown(
          session.settle(List.of(new Settled(delivery.sequence(), Settlement.complete()))));

      await().until(() -> broker.server().depth(queue.value()) == 0);
    }
  }

  @Test
  void aRetryWhoseAnswerIsLostHasAnUnknownOutcome() throws Exception {
    send();
    try (var session = accept()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      session.renew();
      broker.server().faults().loseReplies("com.microsoft:set-session-state", 10);
      var again = Settlement.retryAfter(Duration.ofMillis(1), "later");

      assertUnknown(session.settle(List.of(new Settled(delivery.sequence(), again))));
    } finally {
      broker.server().faults().loseReplies("com.microsoft:set-session-state", 0);
    }
  }

  @Test
  void aSettlementWithoutASessionWhoseAnswerIsLostHasAnUnknownOutcome() throws Exception {
    var loose = QueueName.of(queue.value() + "-loose");
    provider.declare(loose, QueueSettings.unordered());
    provider.send(loose, List.of(Message.unordered(Payload.text("m"))));
    var received = provider.messages(loose).receive(1, PATIENCE).getFirst();
    broker.server().faults().loseSettlements(1);

    assertUnknown(provider.messages(loose).settle(received.receipt(), Settlement.complete()));

    await().until(() -> broker.server().depth(loose.value()) == 0);
  }

  @Test
  void aSendWhoseAnswersAreLostHasAnUnknownOutcome() {
    send();
    broker.server().faults().loseAcknowledgements(1000);

    assertThatThrownBy(this::send).isInstanceOf(KeeperException.OutcomeUnknown.class);

    assertThat(broker.server().depth(queue.value())).isEqualTo(2);
  }

  @Test
  void aSendToABrokerThatIsAwayIsUnavailable() {
    var nowhere =
        "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true";
    try (var away =
        ServiceBusQueueProvider.builder(nowhere)
            .administrationEndpoint(broker.server().administrationEndpoint())
            .retry(TestBroker.impatient())
            .build()) {
      assertThatThrownBy(() -> away.send(queue, List.of(message())))
          .isInstanceOf(KeeperException.Unavailable.class);
    }
  }

  @Test
  void aProcessorGoesOnWhenTheBrokerIsBack() {
    var handled = new AtomicInteger();
    try (var processor =
        SessionProcessor.builder(
                provider,
                queue,
                (delivery, context) -> {
                  handled.incrementAndGet();
                  return Settlement.complete();
                })
            .build()) {
      processor.start();
      for (int i = 1; i <= 3; i++) {
        int expected = i;
        send();
        await().until(() -> handled.get() >= expected);
        broker.server().faults().dropConnections();
      }
    }
  }

  @Test
  void aLockThatEndedIsNeverReportedAsIfNothingHadBeenTried() throws Exception {
    send();
    try (var session = accept()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      broker.server().faults().expireSessionLocks(queue.value());

      assertThat(
              session
                  .settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
                  .toCompletableFuture())
          .failsWithin(PATIENCE)
          .withThrowableThat()
          .havingCause()
          // Unknown if the link ended before the broker answered this settlement.
          .isInstanceOfAny(KeeperException.LockLost.class, KeeperException.OutcomeUnknown.class);
    }
  }

  private static void assertUnknown(CompletionStage<Void> settled) {
    assertThat(settled.toCompletableFuture())
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .withCauseInstanceOf(KeeperException.OutcomeUnknown.class);
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
