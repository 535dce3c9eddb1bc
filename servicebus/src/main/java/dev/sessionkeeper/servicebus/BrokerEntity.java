package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusClientBuilder.ServiceBusReceiverClientBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder.ServiceBusSenderClientBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder.ServiceBusSessionReceiverClientBuilder;
import dev.sessionkeeper.QueueName;

/** The place of a queue in the namespace: a queue, or a subscription of a topic. */
sealed interface BrokerEntity {

  ServiceBusSenderClientBuilder of(ServiceBusSenderClientBuilder builder);

  ServiceBusSessionReceiverClientBuilder of(ServiceBusSessionReceiverClientBuilder builder);

  ServiceBusReceiverClientBuilder of(ServiceBusReceiverClientBuilder builder);

  /** A queue. */
  record Queue(QueueName name) implements BrokerEntity {
    @Override
    public ServiceBusSenderClientBuilder of(ServiceBusSenderClientBuilder builder) {
      return builder.queueName(BrokerNames.of(name));
    }

    @Override
    public ServiceBusSessionReceiverClientBuilder of(
        ServiceBusSessionReceiverClientBuilder builder) {
      return builder.queueName(BrokerNames.of(name));
    }

    @Override
    public ServiceBusReceiverClientBuilder of(ServiceBusReceiverClientBuilder builder) {
      return builder.queueName(BrokerNames.of(name));
    }
  }

  /** A subscription: messages are sent to its topic and received from it. */
  record Subscription(String topic, String name) implements BrokerEntity {
    @Override
    public ServiceBusSenderClientBuilder of(ServiceBusSenderClientBuilder builder) {
      return builder.topicName(topic);
    }

    @Override
    public ServiceBusSessionReceiverClientBuilder of(
        ServiceBusSessionReceiverClientBuilder builder) {
      return builder.topicName(topic).subscriptionName(name);
    }

    @Override
    public ServiceBusReceiverClientBuilder of(ServiceBusReceiverClientBuilder builder) {
      return builder.topicName(topic).subscriptionName(name);
    }
  }
}
