package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.servicebus.testserver.QueueOptions;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of other producers, in queues that another client created. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
@Tag("slow")
class ForeignMessagesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static TestBroker broker;
  private ServiceBusQueueProvider provider;
  private QueueName queue;
  private ServiceBusSenderClient producer;

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
    queue = QueueName.of("foreign-" + UUID.randomUUID().toString().substring(0, 8));
    broker.server().declare(queue.value(), QueueOptions.withSessions());
    producer =
        new ServiceBusClientBuilder()
            .connectionString(broker.server().connectionString())
            .sender()
            .queueName(queue.value())
            .buildClient();
  }

  @AfterEach
  void close() {
    producer.close();
    provider.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Kunde Müller", "tenant/7/order 12", "顧客 😀", " a", "100%", "~x"})
  void aSessionOfAnyNameIsHandledAndReleased(String session) {
    producer.sendMessage(new ServiceBusMessage("m").setSessionId(session));
    var handled = new ConcurrentLinkedQueue<Optional<SessionId>>();
    try (var processor =
        SessionProcessor.builder(
                provider,
                queue,
                (delivery, context) -> {
                  handled.add(delivery.message().session());
                  return Settlement.complete();
                })
            .build()) {
      processor.start();
      await().until(() -> !handled.isEmpty());
    }
    assertThat(handled).containsExactly(Optional.of(SessionId.of(session)));
    await().until(() -> broker.server().heldSessions(queue.value()) == 0);
  }

  @Test
  void aSessionOf128CharactersIsHandledAndCanBeChosen() throws Exception {
    var longest = "ü".repeat(128);
    producer.sendMessage(new ServiceBusMessage("m").setSessionId(longest));
    var chosen = provider.sessions(queue).accept(SessionId.of(longest), Owner.of("test"), PATIENCE);
    try (var session = ((AcceptResult.Accepted) chosen).session()) {
      assertThat(session.receive(1, PATIENCE)).hasSize(1);
    }
  }

  @Test
  void aSessionWhoseNameCannotBeUsedBecomesDeadLettersAndTheWorkersAreTold() throws Exception {
    producer.sendMessage(new ServiceBusMessage("bad").setSessionId("a\u0007b"));

    var wait = Duration.ofSeconds(1);
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> provider.sessions(queue).acceptNext(Owner.of("test"), wait))
                    .isInstanceOf(KeeperException.Rejected.class)
                    .hasMessageContaining("a?b"));

    await().until(() -> broker.server().depth(queue.value() + "/$deadletterqueue") == 1);
    await().until(() -> broker.server().heldSessions(queue.value()) == 0);
    var letter = deadLetters().getFirst();
    assertThat(letter.reason()).isEqualTo("unusable session id");
    assertThat(letter.message().payload().asText()).isEqualTo("bad");
    assertThat(letter.message().properties()).containsEntry("servicebus.session-id", "a\u0007b");
  }

  @Test
  void everyFieldReachesTheHandler() throws Exception {
    producer.sendMessage(richMessage());

    var message = receive().message();

    assertThat(message.id().value()).isEqualTo("id-1");
    assertThat(message.payload().contentType()).isEqualTo("application/json");
    assertThat(message.properties())
        .containsEntry("servicebus.subject", "order.created")
        .containsEntry("servicebus.correlation-id", "corr-7")
        .containsEntry("servicebus.reply-to", "answers")
        .containsEntry("servicebus.reply-to-session-id", "answer-session")
        .containsEntry("servicebus.to", "billing")
        .containsEntry("servicebus.partition-key", "a")
        .containsEntry("servicebus.time-to-live", "PT1H")
        .containsEntry("count", "42")
        .containsEntry("ratio", "2.5")
        .containsEntry("flag", "true")
        .containsEntry("name", "Müller");
  }

  @Test
  void everyFieldSurvivesTheDeadLetterAndItsReplay() throws Exception {
    producer.sendMessage(richMessage());
    var before = receive(Settlement.deadLetter("bad")).message();

    assertThat(deadLetters().getFirst().message()).isEqualTo(before);
    assertThat(provider.replay(queue, new Selection.All())).isEqualTo(1);

    var native1 = peekNatively();
    assertThat(native1.getSubject()).isEqualTo("order.created");
    assertThat(native1.getCorrelationId()).isEqualTo("corr-7");
    assertThat(native1.getReplyTo()).isEqualTo("answers");
    assertThat(native1.getReplyToSessionId()).isEqualTo("answer-session");
    assertThat(native1.getTo()).isEqualTo("billing");
    assertThat(native1.getPartitionKey()).isEqualTo("a");
    assertThat(native1.getContentType()).isEqualTo("application/json");
    assertThat(native1.getTimeToLive()).isEqualTo(Duration.ofHours(1));
    assertThat(native1.getApplicationProperties())
        .containsEntry("count", 42)
        .containsEntry("ratio", 2.5)
        .containsEntry("flag", true)
        .doesNotContainKey("DeadLetterReason");
    assertThat(receive().message()).isEqualTo(before);
  }

  @Test
  void aMessageSentHereWithNativeFieldsHasThemForOtherClients() {
    provider.send(
        queue,
        List.of(
            Message.of(SessionId.of("a"), Payload.text("x"))
                .withProperty("servicebus.subject", "s")
                .withProperty("servicebus.correlation-id", "c")
                .withProperty("plain", "p")));
    var seen = peekNatively();
    assertThat(seen.getSubject()).isEqualTo("s");
    assertThat(seen.getCorrelationId()).isEqualTo("c");
    assertThat(seen.getApplicationProperties())
        .containsEntry("plain", "p")
        .doesNotContainKey("servicebus.subject");
  }

  @Test
  void aTextOfAJmsProducerIsATextHereAndAfterItsReplay() throws Exception {
    producer.sendMessage(
        new ServiceBusMessage(AmqpMessageBody.fromValue("hello")).setSessionId("a"));
    assertThat(receive(Settlement.deadLetter("bad")).payload().asText()).isEqualTo("hello");
    provider.replay(queue, new Selection.All());
    assertThat(receive().payload().asText()).isEqualTo("hello");
  }

  @Test
  void aMessageIdThatIsNoneOfOursIsKeptAsAProperty() throws Exception {
    producer.sendMessage(new ServiceBusMessage("m").setSessionId("a").setMessageId("😀"));
    var delivery = receive();
    assertThat(delivery.id().value()).isEqualTo("sequence-" + delivery.sequence());
    assertThat(delivery.message().properties()).containsEntry("servicebus.message-id", "😀");
  }

  @Test
  void aQueueWhoseNameCannotBeUsedHereIsLeftOutOfTheList() {
    broker.server().declare("team/payments", QueueOptions.withSessions());
    assertThat(provider.queues()).contains(queue).doesNotContain(QueueName.of("team"));
  }

  @Test
  void anAdministrationThatCannotBeReachedIsUnavailable() {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var away =
            ServiceBusQueueProvider.builder(broker.server().connectionString())
                .administrationEndpoint(URI.create("http://127.0.0.1:1"))
                .build()) {
      // Concurrently, because the SDK repeats each call for more than five seconds.
      var failures =
          Stream.<Callable<?>>of(
                  () -> away.settings(queue),
                  away::queues,
                  () -> away.declare(queue, QueueSettings.ordered()),
                  () -> away.sessions(queue))
              .map(call -> CompletableFuture.supplyAsync(() -> catchThrowable(call::call), threads))
              .toList();
      for (var failure : failures) {
        assertThat(failure.join())
            .isInstanceOf(KeeperException.Unavailable.class)
            .hasCauseInstanceOf(Exception.class);
      }
    }
  }

  @Test
  void aConnectionStringThatIsNoneIsNamedAsSuch() {
    assertThatThrownBy(() -> ServiceBusQueueProvider.create("no connection string"))
        .isInstanceOf(KeeperException.Misconfigured.class);
  }

  private static ServiceBusMessage richMessage() {
    var message =
        new ServiceBusMessage(BinaryData.fromString("{\"a\":1}"))
            .setSessionId("a")
            .setMessageId("id-1")
            .setContentType("application/json")
            .setSubject("order.created")
            .setCorrelationId("corr-7")
            .setReplyTo("answers")
            .setReplyToSessionId("answer-session")
            .setTo("billing")
            .setPartitionKey("a")
            .setTimeToLive(Duration.ofHours(1));
    message.getApplicationProperties().put("count", 42);
    message.getApplicationProperties().put("ratio", 2.5);
    message.getApplicationProperties().put("flag", true);
    message.getApplicationProperties().put("name", "Müller");
    return message;
  }

  private List<DeadLetter> deadLetters() {
    return provider.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items();
  }

  private ServiceBusReceivedMessage peekNatively() {
    try (var sessions =
            new ServiceBusClientBuilder()
                .connectionString(broker.server().connectionString())
                .sessionReceiver()
                .queueName(queue.value())
                .buildClient();
        var receiver = sessions.acceptSession("a")) {
      return receiver.peekMessage();
    }
  }

  private Delivery receive() throws InterruptedException {
    return receive(Settlement.complete());
  }

  private Delivery receive(Settlement settlement) throws InterruptedException {
    var accepted = provider.sessions(queue).acceptNext(Owner.of("test"), PATIENCE);
    assertThat(accepted).isInstanceOf(AcceptResult.Accepted.class);
    try (var session = ((AcceptResult.Accepted) accepted).session()) {
      var delivery = session.receive(1, PATIENCE).getFirst();
      session
          .settle(List.of(new Settled(delivery.sequence(), settlement)))
          .toCompletableFuture()
          .join();
      return delivery;
    }
  }
}
