package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.testkit.ProcessorProbe;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Existing queues, and credentials that may only send or receive. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SQS_REGION", matches = ".+")
@Tag("slow")
class NarrowRightsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Set<String> SEND = Set.of("GetQueueUrl", "SendMessage", "SendMessageBatch");
  private static final Set<String> LISTEN =
      Set.of(
          "GetQueueUrl",
          "ReceiveMessage",
          "DeleteMessage",
          "DeleteMessageBatch",
          "ChangeMessageVisibility",
          "ChangeMessageVisibilityBatch");
  private static TestSqs sqs;

  private final String name = "narrow-" + UUID.randomUUID().toString().substring(0, 8);
  private final QueueName queue = QueueName.of(name);
  private SqsClient client;
  private NarrowRights rights;

  @BeforeAll
  static void start() {
    sqs = TestSqs.start();
  }

  @AfterAll
  static void stop() {
    sqs.close();
  }

  @AfterEach
  void close() {
    if (client != null) {
      client.close();
    }
  }

  private void create(String sqsName) {
    sqs.client()
        .createQueue(
            request -> {
              request.queueName(sqsName);
              if (sqsName.endsWith(".fifo")) {
                request.attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
              }
            });
  }

  private SqsQueueProvider allowed(Map<String, Set<String>> actions) {
    rights = new NarrowRights(UrlConnectionHttpClient.create(), actions);
    client =
        SqsClient.builder()
            .endpointOverride(URI.create("http://127.0.0.1:" + sqs.port()))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("narrow", "any")))
            .httpClient(rights)
            .build();
    return SqsQueueProvider.create(client);
  }

  private SendOutcome send(SqsQueueProvider provider, String text) {
    return provider
        .send(queue, List.of(Message.of(SessionId.of("a"), Payload.text(text))))
        .getFirst();
  }

  @Test
  void aSenderAndAListenerNeedNoRightToManage() throws Exception {
    create(name + ".fifo");
    try (var sender = allowed(Map.of(name + ".fifo", SEND))) {
      assertThat(send(sender, "one")).isInstanceOf(SendOutcome.Stored.class);
      assertThat(send(sender, "two")).isInstanceOf(SendOutcome.Stored.class);
    }
    client.close();
    var probe = new ProcessorProbe();
    try (var listener = allowed(Map.of(name + ".fifo", LISTEN));
        var processor =
            SessionProcessor.builder(listener, queue, (delivery, session) -> Settlement.complete())
                .listener(probe)
                .build()
                .start()) {
      probe.awaitCompleted(2, PATIENCE);
    }
    assertThat(probe.completed())
        .extracting(delivery -> delivery.payload().asText())
        .containsExactly("one", "two");
    assertThat(rights.refused()).contains("ListQueueTags " + name + ".fifo");
  }

  @Test
  void anUnorderedQueueIsFoundThoughItsOrderedNameIsRefused() {
    create(name);
    try (var sender = allowed(Map.of(name, SEND))) {
      var outcome = sender.send(queue, List.of(Message.unordered(Payload.text("one")))).getFirst();
      assertThat(outcome).isInstanceOf(SendOutcome.Stored.class);
    }
    assertThat(rights.refused()).contains("GetQueueUrl " + name + ".fifo");
  }

  @Test
  void aDeclarationOfAnExistingQueueHoldsInThisProcess() {
    create(name + ".fifo");
    try (var provider = allowed(Map.of(name + ".fifo", LISTEN))) {
      boolean created =
          provider.declare(
              queue,
              QueueSettings.ordered()
                  .withMaxDeliveryCount(3)
                  .withLockDuration(Duration.ofSeconds(90)));
      assertThat(created).isFalse();
      assertThat(provider.settings(queue).orElseThrow())
          .satisfies(
              settings -> {
                assertThat(settings.maxDeliveryCount()).isEqualTo(3);
                assertThat(settings.lockDuration()).isEqualTo(Duration.ofSeconds(90));
              });
    }
    assertThat(rights.refused()).contains("SetQueueAttributes " + name + ".fifo");
  }

  @Test
  void whatIsMissingIsSaid() {
    try (var provider = allowed(Map.of())) {
      assertThatThrownBy(() -> send(provider, "one"))
          .isInstanceOf(KeeperException.Misconfigured.class)
          .hasMessageContaining("not authorized to perform: sqs:GetQueueUrl");
      assertThatThrownBy(provider::queues).isInstanceOf(KeeperException.Misconfigured.class);
      assertThatThrownBy(() -> provider.declare(queue, QueueSettings.ordered()))
          .isInstanceOf(KeeperException.Misconfigured.class);
    }
  }

  @Test
  void deadLettersGoWhereTheListenerMaySend() throws Exception {
    create(name + ".fifo");
    create(name + "-dead.fifo");
    sqs.provider(dev.sessionkeeper.time.TimeSource.system(), new MemorySessionStateStore())
        .send(queue, List.of(Message.of(SessionId.of("a"), Payload.text("bad"))));
    var probe = new ProcessorProbe();
    try (var listener = allowed(Map.of(name + ".fifo", LISTEN, name + "-dead.fifo", SEND));
        var processor =
            SessionProcessor.builder(
                    listener, queue, (delivery, session) -> Settlement.deadLetter("unreadable"))
                .listener(probe)
                .build()
                .start()) {
      probe.await(PATIENCE, "a dead letter", () -> !probe.deadLettered().isEmpty());
    }
    try (var all = SqsQueueProvider.create(sqs.client())) {
      assertThat(
              all.deadLetters(
                      queue, java.util.Optional.empty(), dev.sessionkeeper.Page.Request.first(10))
                  .items())
          .extracting(letter -> letter.reason())
          .containsExactly("unreadable");
    }
  }
}
