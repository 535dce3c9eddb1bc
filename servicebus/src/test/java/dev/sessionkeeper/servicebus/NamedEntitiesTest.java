package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.azure.core.credential.AccessToken;
import com.azure.core.credential.TokenCredential;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.servicebus.testserver.QueueOptions;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.QueueProvider;
import java.net.URI;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Existing queues and subscriptions, with the rights to receive and to send only. */
class NamedEntitiesTest {
  private static final QueueName ORDERS = QueueName.of("orders");
  private static final QueueName BILLING = QueueName.of("billing");
  private static final QueueName SHIPPING = QueueName.of("shipping");

  /** Refuses connections, as for a caller without the right to manage. */
  private static final URI NO_ADMINISTRATION = URI.create("http://127.0.0.1:9");

  private ServiceBusTestServer server;

  @BeforeEach
  void start() {
    server = ServiceBusTestServer.start();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private ServiceBusQueueProvider.Builder builder() {
    return ServiceBusQueueProvider.builder(server.connectionString())
        .administrationEndpoint(NO_ADMINISTRATION)
        .retry(TestBroker.impatient());
  }

  private static List<String> handled(QueueProvider provider, QueueName queue, int count) {
    List<String> handled = new CopyOnWriteArrayList<>();
    try (var processor =
        SessionProcessor.builder(
                provider,
                queue,
                (delivery, session) -> {
                  handled.add(session.id() + ":" + delivery.payload().asText());
                  return Settlement.complete();
                })
            .build()
            .start()) {
      Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> handled.size() >= count);
    }
    return handled;
  }

  private static void send(QueueProvider provider, QueueName queue, String... texts) {
    for (var text : texts) {
      provider.send(queue, Message.of(SessionId.of("a"), Payload.text(text)));
    }
  }

  @Test
  void aNamedQueueIsUsedWithoutTheRightToManage() {
    server.declare("orders", QueueOptions.withSessions());
    try (var provider = builder().queue(ORDERS, QueueSettings.ordered()).build()) {
      assertThat(provider.queues()).containsExactly(ORDERS);
      assertThat(provider.declare(ORDERS, QueueSettings.ordered())).isFalse();
      send(provider, ORDERS, "one", "two");
      assertThat(handled(provider, ORDERS, 2)).containsExactly("a:one", "a:two");

      assertThat(provider.settings(BILLING)).isEmpty();
      assertThatThrownBy(() -> provider.declare(ORDERS, QueueSettings.unordered()))
          .isInstanceOf(KeeperException.QueueConflict.class);
      assertThatThrownBy(() -> provider.declare(BILLING, QueueSettings.ordered()))
          .isInstanceOf(KeeperException.NotSupported.class)
          .hasMessageContaining("given its queues by name");
    }
  }

  @Test
  void subscriptionsOfATopicEachGetEveryMessageInOrder() {
    server.declare("events/Subscriptions/bill", QueueOptions.withSessions());
    server.declare("events/Subscriptions/ship", QueueOptions.withSessions());
    try (var provider =
        builder()
            .subscription(BILLING, "events", "bill", QueueSettings.ordered())
            .subscription(SHIPPING, "events", "ship", QueueSettings.ordered())
            .build()) {
      send(provider, BILLING, "one", "two");

      assertThat(handled(provider, BILLING, 2)).containsExactly("a:one", "a:two");
      assertThat(handled(provider, SHIPPING, 2)).containsExactly("a:one", "a:two");
      assertThatThrownBy(() -> provider.replay(BILLING, new Selection.All()))
          .isInstanceOf(KeeperException.NotSupported.class)
          .hasMessageContaining("every subscription of the topic would get them");
    }
  }

  @Test
  void aNamespaceIsOpenedByATokenCredential() {
    TokenCredential credential = request -> Mono.just(new AccessToken("token", OffsetDateTime.MAX));
    try (var provider =
        ServiceBusQueueProvider.builder("shop.servicebus.windows.net", credential)
            .queue(ORDERS, QueueSettings.ordered())
            .build()) {
      assertThat(provider.settings(ORDERS)).contains(QueueSettings.ordered());
    }
  }
}
