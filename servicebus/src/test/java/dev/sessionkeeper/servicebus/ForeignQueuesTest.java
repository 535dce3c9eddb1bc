package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;

import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/** A queue that another client created is used as it is. */
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
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

  private static ServiceBusAdministrationClient administration(TestBroker broker) {
    return new ServiceBusAdministrationClientBuilder()
        .connectionString(broker.server().connectionString())
        .addPolicy(new SendAdministrationTo(broker.server().administrationEndpoint()))
        .buildClient();
  }
}
