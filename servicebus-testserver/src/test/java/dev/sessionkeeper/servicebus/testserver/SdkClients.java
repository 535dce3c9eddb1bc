package dev.sessionkeeper.servicebus.testserver;

import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The vendor's clients, configured to fail within seconds instead of a minute. */
final class SdkClients implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);
  private final ServiceBusTestServer server;
  private final List<Runnable> open = new ArrayList<>();

  SdkClients(ServiceBusTestServer server) {
    this.server = server;
  }

  private ServiceBusClientBuilder builder() {
    return new ServiceBusClientBuilder()
        .connectionString(server.connectionString())
        .retryOptions(
            new AmqpRetryOptions()
                .setTryTimeout(Duration.ofSeconds(3))
                .setMaxRetries(2)
                .setDelay(Duration.ofMillis(50))
                .setMode(AmqpRetryMode.FIXED));
  }

  ServiceBusSenderClient sender(String queue) {
    var client = builder().sender().queueName(queue).buildClient();
    return keep(client, client::close);
  }

  ServiceBusSessionReceiverClient sessions(String queue) {
    var client =
        builder()
            .sessionReceiver()
            .queueName(queue)
            .disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO)
            .buildClient();
    return keep(client, client::close);
  }

  ServiceBusReceiverClient receiver(String queue) {
    var client =
        builder()
            .receiver()
            .queueName(queue)
            .disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO)
            .buildClient();
    return keep(client, client::close);
  }

  ServiceBusReceiverClient deadLetters(String queue) {
    var client =
        builder()
            .receiver()
            .queueName(queue)
            .subQueue(SubQueue.DEAD_LETTER_QUEUE)
            .disableAutoComplete()
            .buildClient();
    return keep(client, client::close);
  }

  static ServiceBusMessage message(String session, String body) {
    return new ServiceBusMessage(body).setSessionId(session);
  }

  static List<ServiceBusReceivedMessage> receive(ServiceBusReceiverClient receiver, int count) {
    return receiver.receiveMessages(count, PATIENCE).stream().toList();
  }

  static ServiceBusReceivedMessage receiveOne(ServiceBusReceiverClient receiver) {
    return receive(receiver, 1).get(0);
  }

  static List<String> bodies(List<ServiceBusReceivedMessage> messages) {
    return messages.stream().map(message -> message.getBody().toString()).toList();
  }

  private <T> T keep(T client, Runnable close) {
    open.add(close);
    return client;
  }

  @Override
  public void close() {
    open.forEach(Runnable::run);
  }
}
