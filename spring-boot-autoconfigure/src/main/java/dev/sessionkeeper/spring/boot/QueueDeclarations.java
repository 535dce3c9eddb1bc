package dev.sessionkeeper.spring.boot;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.spi.QueueProvider;
import java.util.List;
import java.util.Map;

/** The queues of the properties, declared: beans that need them take this one. */
final class QueueDeclarations {
  private final List<QueueName> queues;

  private QueueDeclarations(List<QueueName> queues) {
    this.queues = queues;
  }

  static QueueDeclarations declare(
      QueueProvider provider, Map<String, SessionkeeperProperties.Queue> queues) {
    queues.forEach((name, queue) -> provider.declare(QueueName.of(name), queue.settings()));
    return new QueueDeclarations(queues.keySet().stream().map(QueueName::of).toList());
  }

  List<QueueName> queues() {
    return queues;
  }
}
