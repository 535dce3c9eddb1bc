package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Queues and subscriptions that the application named with their settings. The namespace is not
 * asked about them, so the rights to receive and to send suffice.
 */
record NamedEntities(Map<QueueName, Named> all) {
  NamedEntities {
    all = Map.copyOf(all);
  }

  /** A named queue or subscription with its settings. */
  record Named(BrokerEntity entity, QueueSettings settings) {}

  boolean isEmpty() {
    return all.isEmpty();
  }

  BrokerEntity entity(QueueName queue) {
    var named = all.get(queue);
    return named == null ? new BrokerEntity.Queue(queue) : named.entity();
  }

  Optional<QueueSettings> settings(QueueName queue) {
    return Optional.ofNullable(all.get(queue)).map(Named::settings);
  }

  List<QueueName> queues() {
    return all.keySet().stream().sorted((a, b) -> a.value().compareTo(b.value())).toList();
  }

  /** Checks the settings against the existing queue, and refuses settings that differ. */
  boolean declare(QueueName queue, QueueSettings settings) {
    var known = settings(queue);
    if (known.isEmpty()) {
      throw new KeeperException.NotSupported(
          "servicebus", "create queue " + queue + ", because it was given its queues by name");
    }
    if (known.get().mode() != settings.mode()) {
      throw new KeeperException.QueueConflict(queue, known.get().mode());
    }
    return false;
  }

  void requireReplayable(QueueName queue) {
    if (entity(queue) instanceof BrokerEntity.Subscription subscription) {
      throw new KeeperException.NotSupported(
          "servicebus",
          "replay dead letters of subscription "
              + subscription.name()
              + ": every subscription of the topic would get them");
    }
  }
}
