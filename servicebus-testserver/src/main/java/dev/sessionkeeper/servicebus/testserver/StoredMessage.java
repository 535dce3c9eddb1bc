package dev.sessionkeeper.servicebus.testserver;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.ApplicationProperties;
import org.apache.qpid.proton.amqp.messaging.MessageAnnotations;
import org.apache.qpid.proton.engine.Delivery;
import org.apache.qpid.proton.message.Message;
import org.jspecify.annotations.Nullable;

/** A message in a queue of the broker, with its present owner. Event loop only. */
final class StoredMessage {
  final long sequence;
  final long enqueuedAt;
  final Message content;
  final long visibleAt;
  final long expiresAt;
  int deliveryCount;
  boolean deferred;
  long lockedUntil;
  @Nullable UUID lockToken;
  @Nullable ReceiverLink holder;
  @Nullable Delivery delivery;

  StoredMessage(long sequence, long enqueuedAt, long visibleAt, long expiresAt, Message content) {
    this.sequence = sequence;
    this.enqueuedAt = enqueuedAt;
    this.visibleAt = visibleAt;
    this.expiresAt = expiresAt;
    this.content = content;
  }

  boolean isFree(long now) {
    return lockToken == null && !deferred && visibleAt <= now;
  }

  void unlock() {
    lockToken = null;
    holder = null;
    delivery = null;
  }

  /** Merges the properties of a settlement into the application properties. */
  void changeProperties(@Nullable Map<?, ?> changes) {
    if (changes == null || changes.isEmpty()) {
      return;
    }
    var properties = new HashMap<String, Object>();
    if (content.getApplicationProperties() != null) {
      properties.putAll(content.getApplicationProperties().getValue());
    }
    changes.forEach((name, value) -> properties.put(name.toString(), value));
    content.setApplicationProperties(new ApplicationProperties(properties));
  }

  void annotate(Map<String, Object> more) {
    var annotations = new HashMap<Symbol, Object>();
    if (content.getMessageAnnotations() != null
        && content.getMessageAnnotations().getValue() != null) {
      annotations.putAll(content.getMessageAnnotations().getValue());
    }
    more.forEach((name, value) -> annotations.put(Symbol.valueOf(name), value));
    content.setMessageAnnotations(new MessageAnnotations(annotations));
  }
}
