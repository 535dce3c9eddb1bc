package dev.sessionkeeper.servicebus.testserver;

import static dev.sessionkeeper.servicebus.testserver.SdkClients.bodies;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.message;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receive;
import static dev.sessionkeeper.servicebus.testserver.SdkClients.receiveOne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.HttpPipelineNextPolicy;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.HttpPipelinePolicy;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.QueueProperties;
import java.net.MalformedURLException;
import java.net.URI;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class QueuesTest {
  private ServiceBusTestServer server;
  private SdkClients clients;

  @BeforeEach
  void start() {
    server =
        ServiceBusTestServer.start()
            .declare("plain", QueueOptions.withoutSessions())
            .declare("dd", QueueOptions.withSessions().duplicateWindow(Duration.ofMinutes(10)));
    clients = new SdkClients(server);
  }

  @AfterEach
  void stop() {
    clients.close();
    server.close();
  }

  @Test
  void aPlainMessageIsLockedRenewedAndCompleted() {
    clients.sender("plain").sendMessage(new ServiceBusMessage("x"));
    var receiver = clients.receiver("plain");
    var got = receiveOne(receiver);

    assertThat(receiver.renewMessageLock(got)).isAfter(OffsetDateTime.now(ZoneOffset.UTC));
    receiver.complete(got);

    assertThat(server.depth("plain")).isZero();
  }

  @Test
  void aReceiverOfAQueueThatWasEmptyGetsWhatComesLater() {
    var sender = clients.sender("plain");
    var receiver = clients.receiver("plain");
    for (var body : List.of("1", "2")) {
      sender.sendMessage(new ServiceBusMessage(body));
      var got = receiveOne(receiver);
      assertThat(got.getBody()).hasToString(body);
      receiver.complete(got);
    }
  }

  @Test
  void aPlainLockThatRunsOutFreesTheMessage() {
    server.declare("plain", QueueOptions.withoutSessions().lockDuration(Duration.ofMillis(300)));
    clients.sender("plain").sendMessage(new ServiceBusMessage("x"));
    var first = clients.receiver("plain");
    var late = receiveOne(first);
    var again = receiveOne(clients.receiver("plain"));

    assertThat(again.getDeliveryCount()).isEqualTo(1);
    assertThatThrownBy(() -> first.complete(late)).isInstanceOf(ServiceBusException.class);
  }

  @Test
  void aKnownIdIsStoredOnce() {
    var sender = clients.sender("dd");
    sender.sendMessage(message("A", "1").setMessageId("x"));
    sender.sendMessage(message("A", "2").setMessageId("x"));

    var session = clients.sessions("dd").acceptSession("A");
    assertThat(bodies(receive(session, 5))).containsExactly("1");
  }

  @Test
  void anExpiredMessageBecomesADeadLetter() {
    clients
        .sender("plain")
        .sendMessage(new ServiceBusMessage("x").setTimeToLive(Duration.ofMillis(200)));

    assertThat(receiveOne(clients.deadLetters("plain")).getDeadLetterReason())
        .isEqualTo("TTLExpiredException");
    assertThat(server.depth("plain")).isZero();
  }

  @Test
  void scheduledMessagesWaitAndCanBeCancelled() {
    var sender = clients.sender("plain");
    var far = OffsetDateTime.now(ZoneOffset.UTC).plusHours(1);
    sender.cancelScheduledMessage(sender.scheduleMessage(new ServiceBusMessage("no"), far));
    sender.scheduleMessage(
        new ServiceBusMessage("soon"),
        OffsetDateTime.now(ZoneOffset.UTC).plus(Duration.ofMillis(300)));

    assertThat(receiveOne(clients.receiver("plain")).getBody()).hasToString("soon");
  }

  @Test
  void messagesCanBePeekedWithoutALock() {
    clients
        .sender("plain")
        .sendMessages(List.of(new ServiceBusMessage("1"), new ServiceBusMessage("2")));

    var receiver = clients.receiver("plain");
    assertThat(receiver.peekMessages(5).stream().map(m -> m.getBody().toString()))
        .containsExactly("1", "2");
    assertThat(bodies(receive(receiver, 2))).containsExactly("1", "2");
    assertThat(receiver.peekMessages(5, 1000).stream()).isEmpty();
  }

  @Test
  void aLargeMessageWithPropertiesComesBackAsItWas() {
    var large = new ServiceBusMessage("x".repeat(200 * 1024)).setContentType("text/plain");
    large.getApplicationProperties().put("k", "v");
    clients.sender("plain").sendMessage(large);

    var got = receiveOne(clients.receiver("plain"));
    assertThat(got.getBody().toBytes()).hasSize(200 * 1024);
    assertThat(got.getContentType()).isEqualTo("text/plain");
    assertThat(got.getApplicationProperties()).containsEntry("k", "v");
  }

  @Test
  void anUnknownQueueIsRefused() {
    var sender = clients.sender("none");
    assertThatThrownBy(() -> sender.sendMessage(new ServiceBusMessage("x")))
        .isInstanceOf(ServiceBusException.class);
  }

  @Test
  void theAdministrationClientCreatesChangesListsAndDeletesQueues() {
    var admin =
        new ServiceBusAdministrationClientBuilder()
            .connectionString(server.connectionString())
            .addPolicy(new SendTo(server.administrationEndpoint()))
            .buildClient();

    admin.createQueue(
        "made",
        new CreateQueueOptions()
            .setSessionRequired(true)
            .setLockDuration(Duration.ofSeconds(30))
            .setUserMetadata("mine"));
    var made = admin.getQueue("made");
    assertThat(made.isSessionRequired()).isTrue();
    assertThat(made.getUserMetadata()).isEqualTo("mine");
    admin.updateQueue(made.setLockDuration(Duration.ofSeconds(45)));
    assertThat(admin.getQueue("made").getLockDuration()).isEqualTo(Duration.ofSeconds(45));
    assertThat(admin.listQueues().stream().map(QueueProperties::getName))
        .containsExactly("dd", "made", "plain");
    assertThat(admin.getQueueExists("other")).isFalse();
    clients.sender("made").sendMessage(message("A", "a0"));
    await().until(() -> server.depth("made") == 1);
    admin.deleteQueue("made");
    assertThat(admin.getQueueExists("made")).isFalse();
  }

  /**
   * Sends requests to the test server, because the administration client uses only HTTPS on the
   * standard port.
   */
  private record SendTo(URI endpoint) implements HttpPipelinePolicy {
    @Override
    public Mono<HttpResponse> process(
        HttpPipelineCallContext context, HttpPipelineNextPolicy next) {
      redirect(context);
      return next.process();
    }

    @Override
    public HttpResponse processSync(
        HttpPipelineCallContext context, com.azure.core.http.HttpPipelineNextSyncPolicy next) {
      redirect(context);
      return next.processSync();
    }

    private void redirect(HttpPipelineCallContext context) {
      try {
        var asked = context.getHttpRequest().getUrl();
        context.getHttpRequest().setUrl(endpoint.resolve(asked.getFile()).toURL());
      } catch (MalformedURLException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
