package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusReceiverAsyncClient;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverAsyncClient;
import com.azure.messaging.servicebus.models.SubQueue;
import dev.sessionkeeper.QueueName;
import java.time.Duration;

/**
 * The vendor's clients on one connection. None renews locks by itself: the processor renews them,
 * because it knows when to stop.
 */
final class ServiceBusClients {
  private final ServiceBusClientBuilder builder;
  private final NamedEntities named;

  ServiceBusClients(Access access, AmqpRetryOptions retry, NamedEntities named) {
    this.named = named;
    builder = access.open(new ServiceBusClientBuilder()).retryOptions(retry);
  }

  synchronized ServiceBusSenderClient sender(QueueName queue) {
    return named.entity(queue).of(builder.sender()).buildClient();
  }

  synchronized ServiceBusSessionReceiverAsyncClient sessions(QueueName queue) {
    return named
        .entity(queue)
        .of(builder.sessionReceiver())
        .disableAutoComplete()
        .maxAutoLockRenewDuration(Duration.ZERO)
        .buildAsyncClient();
  }

  synchronized ServiceBusReceiverAsyncClient messages(QueueName queue) {
    return named
        .entity(queue)
        .of(builder.receiver())
        .disableAutoComplete()
        .maxAutoLockRenewDuration(Duration.ZERO)
        .buildAsyncClient();
  }

  synchronized ServiceBusReceiverClient deadLetters(QueueName queue) {
    return named
        .entity(queue)
        .of(builder.receiver())
        .subQueue(SubQueue.DEAD_LETTER_QUEUE)
        .disableAutoComplete()
        .maxAutoLockRenewDuration(Duration.ofMinutes(5))
        .buildClient();
  }
}
