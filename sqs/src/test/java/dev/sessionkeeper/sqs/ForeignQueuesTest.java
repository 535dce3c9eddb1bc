package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetter;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
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
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Queues that another client created, and messages of other producers. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SQS_REGION", matches = ".+")
@Tag("slow")
class ForeignQueuesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final String TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793";
  private static TestSqs sqs;
  private final String name = "theirs-" + UUID.randomUUID().toString().substring(0, 8);
  private final QueueName queue = QueueName.of(name);
  private SqsQueueProvider provider;

  @BeforeAll
  static void start() {
    sqs = TestSqs.start();
  }

  @AfterAll
  static void stop() {
    sqs.close();
  }

  @BeforeEach
  void open() {
    provider = SqsQueueProvider.create(sqs.client());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  @Test
  void aQueueWithoutDeadLettersIsUsedAsItIs() throws Exception {
    createFifo(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "45"));
    sendNatively("a", Map.of());

    assertThat(provider.settings(queue).orElseThrow().lockDuration())
        .isEqualTo(Duration.ofSeconds(45));
    assertThat(receive(Settlement.deadLetter("bad")).payload().asText()).isEqualTo("body");
    assertThat(deadLetters()).hasSize(1);
  }

  @Test
  void settingsComeFromTheAttributesAndADeclareChangesOnlyWhatItNames() {
    var dead = createFifo(name + "-theirdead.fifo", Map.of());
    createFifo(
        Map.of(
            QueueAttributeName.VISIBILITY_TIMEOUT,
            "45",
            QueueAttributeName.REDRIVE_POLICY,
            redriveTo(dead, 7)));
    var before = provider.settings(queue).orElseThrow();
    assertThat(before.maxDeliveryCount()).isEqualTo(7);
    assertThat(before.lockDuration()).isEqualTo(Duration.ofSeconds(45));
    assertThat(before.duplicateWindow()).isEqualTo(Duration.ofMinutes(5));

    assertThat(provider.declare(queue, QueueSettings.ordered())).isFalse();
    assertThat(provider.settings(queue)).contains(before);
    assertThat(provider.queues()).contains(queue);

    provider.declare(queue, QueueSettings.ordered().withMaxDeliveryCount(3));
    assertThat(provider.settings(queue)).contains(before.withMaxDeliveryCount(3));
    assertThat(attributes(urlOf(name + ".fifo")))
        .containsEntry(QueueAttributeName.VISIBILITY_TIMEOUT, "45")
        .hasEntrySatisfying(
            QueueAttributeName.REDRIVE_POLICY, policy -> assertThat(policy).contains("theirdead"));
    assertThatThrownBy(() -> provider.declare(queue, QueueSettings.unordered()))
        .isInstanceOf(KeeperException.QueueConflict.class);
  }

  @Test
  void deadLettersGoToTheQueueOfTheRedrivePolicyAndThoseOfOtherQueuesThereAreLeftAlone()
      throws Exception {
    var dead = createFifo(name + "-shared.fifo", Map.of());
    createFifo(Map.of(QueueAttributeName.REDRIVE_POLICY, redriveTo(dead, 7)));
    sendNatively(dead, "z", Map.of());
    sendNatively("a", Map.of());

    receive(Settlement.deadLetter("bad"));

    assertThat(deadLetters()).extracting(DeadLetter::reason).containsExactly("bad");
    assertThat(attributes(dead))
        .containsEntry(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES, "2");
    assertThat(provider.replay(queue, new Selection.All())).isEqualTo(1);
    assertThat(receive(Settlement.complete()).message().session()).contains(SessionId.of("a"));
  }

  @Test
  void attributesReachTheHandlerAndSurviveTheDeadLetterAndItsReplay() throws Exception {
    createFifo(Map.of());
    sendNatively("a", richAttributes(4));

    var before = receive(Settlement.deadLetter("bad")).message();

    assertThat(before.properties())
        .containsEntry("name", "Müller")
        .containsEntry("count", "42")
        .containsEntry("raw", "AQID")
        .containsEntry("extra0", "0")
        .containsEntry("sqs.AWSTraceHeader", TRACE)
        .containsKeys("sqs.SenderId", "sqs.SentTimestamp", "sqs.MessageDeduplicationId");
    assertThat(deadLetters().getFirst().message()).isEqualTo(before);

    assertThat(provider.replay(queue, new Selection.All())).isEqualTo(1);

    var native1 = receiveNatively();
    assertThat(native1.messageAttributes())
        .containsEntry("name", text("Müller"))
        .containsEntry("count", number("42"))
        .containsEntry("raw", bytes());
    assertThat(native1.attributes())
        .containsEntry(MessageSystemAttributeName.AWS_TRACE_HEADER, TRACE)
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "a");
    assertThat(receive(Settlement.complete()).message()).isEqualTo(before);
  }

  @Test
  void aMessageWithAsManyAttributesAsSqsTakesSurvivesToo() throws Exception {
    createFifo(Map.of());
    sendNatively("a", richAttributes(7));
    var before = receive(Settlement.deadLetter("bad")).message();
    assertThat(deadLetters().getFirst().message()).isEqualTo(before);
    provider.replay(queue, new Selection.All());
    assertThat(receive(Settlement.complete()).message()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "~x", "tenant/7"})
  void aGroupOfAnyNameIsASession(String group) throws Exception {
    createFifo(Map.of());
    sendNatively(group, Map.of());
    assertThat(receive(Settlement.complete()).message().session()).contains(SessionId.of(group));
    provider.send(queue, List.of(Message.of(SessionId.of(group), Payload.text("ours"))));
    assertThat(receiveNatively().attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, group);
  }

  @Test
  void aSessionThatIsNoGroupIsCarriedInAnAttribute() throws Exception {
    provider.declare(queue, QueueSettings.ordered());
    provider.send(queue, List.of(Message.of(SessionId.of("Kunde Müller"), Payload.text("m"))));
    assertThat(receive(Settlement.complete()).message().session())
        .contains(SessionId.of("Kunde Müller"));
  }

  @Test
  void aQueueNobodyMadeIsUnknown() {
    assertThatThrownBy(() -> provider.sessions(queue))
        .isInstanceOf(KeeperException.UnknownQueue.class);
  }

  private static Map<String, MessageAttributeValue> richAttributes(int extra) {
    var all = new HashMap<String, MessageAttributeValue>();
    all.put("name", text("Müller"));
    all.put("count", number("42"));
    all.put("raw", bytes());
    for (int i = 0; i < extra; i++) {
      all.put("extra" + i, text(Integer.toString(i)));
    }
    return all;
  }

  private static MessageAttributeValue text(String value) {
    return MessageAttributeValue.builder().dataType("String").stringValue(value).build();
  }

  private static MessageAttributeValue number(String value) {
    return MessageAttributeValue.builder().dataType("Number").stringValue(value).build();
  }

  private static MessageAttributeValue bytes() {
    return MessageAttributeValue.builder()
        .dataType("Binary")
        .binaryValue(SdkBytes.fromByteArray(new byte[] {1, 2, 3}))
        .build();
  }

  private String createFifo(Map<QueueAttributeName, String> more) {
    return createFifo(name + ".fifo", more);
  }

  private static String createFifo(String name, Map<QueueAttributeName, String> more) {
    var attributes = new HashMap<>(more);
    attributes.put(QueueAttributeName.FIFO_QUEUE, "true");
    return sqs.client()
        .createQueue(request -> request.queueName(name).attributes(attributes))
        .queueUrl();
  }

  private static String redriveTo(String url, int receives) {
    var arn = attributes(url).get(QueueAttributeName.QUEUE_ARN);
    return "{\"deadLetterTargetArn\":\"" + arn + "\",\"maxReceiveCount\":" + receives + "}";
  }

  private static Map<QueueAttributeName, String> attributes(String url) {
    return sqs.client()
        .getQueueAttributes(request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
        .attributes();
  }

  private static String urlOf(String name) {
    return sqs.client().getQueueUrl(request -> request.queueName(name)).queueUrl();
  }

  private void sendNatively(String group, Map<String, MessageAttributeValue> attributes) {
    sendNatively(urlOf(name + ".fifo"), group, attributes);
  }

  private static void sendNatively(
      String url, String group, Map<String, MessageAttributeValue> attributes) {
    sqs.client()
        .sendMessage(
            request ->
                request
                    .queueUrl(url)
                    .messageBody("body")
                    .messageGroupId(group)
                    .messageDeduplicationId(UUID.randomUUID().toString())
                    .messageAttributes(attributes)
                    .messageSystemAttributes(
                        Map.of(
                            MessageSystemAttributeNameForSends.AWS_TRACE_HEADER,
                            MessageSystemAttributeValue.builder()
                                .dataType("String")
                                .stringValue(TRACE)
                                .build())));
  }

  /** Reads the next message without removing it. */
  private software.amazon.awssdk.services.sqs.model.Message receiveNatively() {
    return sqs.client()
        .receiveMessage(
            request ->
                request
                    .queueUrl(urlOf(name + ".fifo"))
                    .visibilityTimeout(0)
                    .messageAttributeNames("All")
                    .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
        .messages()
        .getFirst();
  }

  private List<DeadLetter> deadLetters() {
    return provider.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items();
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
