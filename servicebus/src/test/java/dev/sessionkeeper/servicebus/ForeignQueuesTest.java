package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.CountableQueues.Counts;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/** A queue that another client created is used unchanged. */
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
@Tag("slow")
class ForeignQueuesTest {
  private final QueueName queue =
      QueueName.of("theirs-" + UUID.randomUUID().toString().substring(0, 8));

  @Test
  void itsSettingsAreItsAttributesAndADeclareChangesOnlyWhatItNames() {
    try (var broker = TestBroker.start();
        var provider = broker.provider(TimeSource.system())) {
      var theirs = administration(broker);
      theirs.createQueue(
          queue.value(),
          new CreateQueueOptions()
              .setSessionRequired(true)
              .setLockDuration(Duration.ofSeconds(30))
              .setMaxDeliveryCount(7)
              .setDefaultMessageTimeToLive(Duration.ofDays(3))
              .setUserMetadata("owner=payments"));
      var expected =
          new QueueSettings(
              QueueMode.ORDERED,
              7,
              Duration.ofSeconds(30),
              Duration.ofDays(3),
              Duration.ZERO,
              PoisonPolicy.DEAD_LETTER);
      assertThat(provider.settings(queue)).contains(expected);

      assertThat(provider.declare(queue, QueueSettings.ordered())).isFalse();
      assertThat(provider.settings(queue)).contains(expected);
      assertThat(theirs.getQueue(queue.value()).getUserMetadata()).isEqualTo("owner=payments");

      var told =
          QueueSettings.ordered().withMaxDeliveryCount(9).withPoisonPolicy(PoisonPolicy.BLOCK);
      provider.declare(queue, told);
      provider.declare(queue, told);
      assertThat(provider.settings(queue))
          .contains(expected.withMaxDeliveryCount(9).withPoisonPolicy(PoisonPolicy.BLOCK));
      assertThat(theirs.getQueue(queue.value()).getUserMetadata()).startsWith("owner=payments");
      assertThat(theirs.getQueue(queue.value()).getLockDuration())
          .isEqualTo(Duration.ofSeconds(30));
    }
  }

  @Test
  void aNameWithASlashIsShownWithATildeAndCanBeUsed() throws Exception {
    try (var broker = TestBroker.start();
        var provider = broker.provider(TimeSource.system())) {
      administration(broker)
          .createQueue("team/payments", new CreateQueueOptions().setSessionRequired(true));
      var payments = QueueName.of("team~payments");

      assertThat(provider.queues()).contains(payments);
      assertThat(provider.settings(payments)).isPresent();
      provider.send(payments, List.of(Message.of(SessionId.of("a"), Payload.text("hello"))));
      var accepted =
          (AcceptResult.Accepted)
              provider.sessions(payments).acceptNext(Owner.of("o"), Duration.ofSeconds(10));
      try (var session = accepted.session()) {
        assertThat(session.receive(1, Duration.ofSeconds(10)))
            .extracting(delivery -> delivery.payload().asText())
            .containsExactly("hello");
      }
    }
  }

  @Test
  void aQueueThatNobodyDeclaredHereIsListedButNotDeclared() {
    try (var broker = TestBroker.start();
        var provider = broker.provider(TimeSource.system())) {
      administration(broker).createQueue(queue.value(), new CreateQueueOptions());
      var ours = QueueName.of("ours");
      provider.declare(ours, QueueSettings.ordered());

      assertThat(provider.queues()).contains(ours, queue);
      assertThat(provider.declaredQueues()).contains(ours).doesNotContain(queue);
      try (var restarted = broker.provider(TimeSource.system())) {
        assertThat(restarted.declaredQueues()).contains(ours).doesNotContain(queue);
        restarted.declare(queue, QueueSettings.unordered());
        assertThat(restarted.declaredQueues()).contains(queue);
      }
    }
  }

  @Test
  void theBrokersCountsAreTold() {
    try (var broker = TestBroker.start();
        var provider = broker.provider(TimeSource.system())) {
      provider.declare(queue, QueueSettings.ordered());
      provider.send(
          queue,
          List.of(
              Message.of(SessionId.of("a"), Payload.text("1")),
              Message.of(SessionId.of("b"), Payload.text("2"))));

      assertThat(provider.counts(queue)).isEqualTo(new Counts(2, OptionalLong.empty(), 0));
      assertThatThrownBy(() -> provider.counts(QueueName.of("none")))
          .isInstanceOf(KeeperException.UnknownQueue.class);
    }
  }

  private static ServiceBusAdministrationClient administration(TestBroker broker) {
    return new ServiceBusAdministrationClientBuilder()
        .connectionString(broker.server().connectionString())
        .addPolicy(new SendAdministrationTo(broker.server().administrationEndpoint()))
        .buildClient();
  }
}
