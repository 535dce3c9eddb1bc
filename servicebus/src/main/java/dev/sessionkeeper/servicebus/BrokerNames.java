package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.QueueName;

/**
 * Names of queues here and in the namespace. A tilde here is a slash there: Service Bus allows no
 * tilde, and a slash would end the name in an HTTP path.
 */
final class BrokerNames {
  private BrokerNames() {}

  static String of(QueueName queue) {
    return queue.value().replace('~', '/');
  }

  /**
   * The name here of a queue there.
   *
   * @throws IllegalArgumentException if the name is too long
   */
  static QueueName queueOf(String brokerName) {
    return QueueName.of(brokerName.replace('/', '~'));
  }
}
