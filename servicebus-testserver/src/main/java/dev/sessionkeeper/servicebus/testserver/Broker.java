package dev.sessionkeeper.servicebus.testserver;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All queues, and the effects of time on them. Event loop only. */
final class Broker {
  private final Map<String, BrokerQueue> queues = new LinkedHashMap<>();

  Optional<BrokerQueue> find(String address) {
    return Optional.ofNullable(queues.get(Wire.queueOf(address)));
  }

  /** Returns the targets of a message: the queue, or each subscription of the topic. */
  List<BrokerQueue> targets(String address) {
    var queue = find(address);
    if (queue.isPresent()) {
      return List.of(queue.get());
    }
    var prefix = Wire.queueOf(address) + "/subscriptions/";
    return queues.values().stream()
        .filter(each -> each.deadLetters != null)
        .filter(each -> Wire.queueOf(each.name).startsWith(prefix))
        .toList();
  }

  /** Creates the queue and its dead-letter subqueue, or changes the existing one. */
  boolean declare(String name, QueueOptions options) {
    var existing = find(name);
    if (existing.isPresent()) {
      existing.get().change(options);
      return false;
    }
    var queue = BrokerQueue.create(name, options);
    queues.put(Wire.queueOf(name), queue);
    if (queue.deadLetters != null) {
      queues.put(Wire.queueOf(queue.deadLetters.name), queue.deadLetters);
    }
    return true;
  }

  boolean delete(String name) {
    queues.remove(Wire.queueOf(name + Wire.DEAD_LETTER_SUFFIX));
    return queues.remove(Wire.queueOf(name)) != null;
  }

  /** Returns the names of all queues, without their subqueues. */
  List<String> names() {
    return queues.values().stream()
        .filter(queue -> queue.deadLetters != null)
        .map(queue -> queue.name)
        .sorted()
        .toList();
  }

  void wake(BrokerQueue queue) {
    wakeReceivers(queue);
    if (queue.deadLetters != null) {
      wakeReceivers(queue.deadLetters);
    }
  }

  static void wakeReceivers(BrokerQueue queue) {
    for (var receiver : List.copyOf(queue.receivers)) {
      receiver.wake();
    }
  }

  /** Ends expired locks and messages, and wakes waiting receivers. */
  void tick(long now) {
    for (var queue : List.copyOf(queues.values())) {
      expireLocks(queue, now);
      queue.expireMessages(now);
      wakeReceivers(queue);
    }
  }

  private static void expireLocks(BrokerQueue queue, long now) {
    for (var session : queue.sessions()) {
      var holder = session.holder;
      if (holder != null && now >= session.lockedUntil) {
        holder.expire();
      }
    }
    if (!queue.requiresSession()) {
      for (var message : List.copyOf(queue.locked.values())) {
        if (now >= message.lockedUntil) {
          queue.unlock(message);
          queue.countFailure(message);
        }
      }
    }
  }
}
