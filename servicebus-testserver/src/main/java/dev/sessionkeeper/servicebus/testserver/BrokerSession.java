package dev.sessionkeeper.servicebus.testserver;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.qpid.proton.amqp.Binary;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one session by sequence number, its state and its holder. A queue without
 * sessions keeps all its messages in one session without an owner. Event loop only.
 */
final class BrokerSession {
  final String id;
  final TreeMap<Long, StoredMessage> messages = new TreeMap<>();
  @Nullable Binary state;
  @Nullable ReceiverLink holder;
  long lockedUntil;

  BrokerSession(String id) {
    this.id = id;
  }

  boolean hasFreeMessage(long now) {
    return !freeMessages(now, 1).isEmpty();
  }

  /** Returns the first unlocked messages, in order. */
  List<StoredMessage> freeMessages(long now, int max) {
    var free = new ArrayList<StoredMessage>();
    for (var message : messages.values()) {
      if (free.size() >= max) {
        break;
      }
      if (message.isFree(now)) {
        free.add(message);
      }
    }
    return free;
  }

  boolean isForgettable() {
    return messages.isEmpty() && state == null && holder == null;
  }
}
