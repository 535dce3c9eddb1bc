package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.QueueName;

/**
 * Converts names of queues. A tilde in our name is a slash in the namespace: Service Bus allows no
 * tilde, and a slash would end the name in an HTTP path.
 */
final class BrokerNames {
  private BrokerNames() {}

  static String of(QueueName queue) {
    return queue.value().replace('~', '/');
  }

  /**
   * Returns our name of a broker's queue.
   *
   * @throws IllegalArgumentException if the name is too long
   */
  static QueueName queueOf(String brokerName) {
    return QueueName.of(brokerName.replace('/', '~'));
  }
}
