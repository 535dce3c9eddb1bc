package dev.sessionkeeper.servicebus.testserver;

import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.Accepted;
import org.apache.qpid.proton.amqp.messaging.Modified;
import org.apache.qpid.proton.amqp.messaging.Rejected;
import org.apache.qpid.proton.amqp.transport.DeliveryState;
import org.apache.qpid.proton.message.Message;
import org.jspecify.annotations.Nullable;

/**
 * One queue: its messages in sessions, its locks, and the rules of settlement.
 *
 * <p>It knows nothing of the wire but the link that holds a message. Event loop only.
 */
final class BrokerQueue {
  private static final String NO_SESSION = "";
  private static final Symbol SCHEDULED = Symbol.valueOf("x-opt-scheduled-enqueue-time");

  final String name;
  final @Nullable BrokerQueue deadLetters;
  final List<ReceiverLink> receivers = new ArrayList<>();
  final Map<UUID, StoredMessage> locked = new HashMap<>();
  private final LinkedHashMap<String, BrokerSession> sessions = new LinkedHashMap<>();
  private final Map<Object, Long> seenIds = new LinkedHashMap<>(); // The oldest first.
  private QueueOptions options;
  private long lastSequence;
  private long earliestExpiry = Long.MAX_VALUE;

  private BrokerQueue(String name, QueueOptions options, @Nullable BrokerQueue deadLetters) {
    this.name = name;
    this.options = options;
    this.deadLetters = deadLetters;
  }

  static BrokerQueue create(String name, QueueOptions options) {
    var dead = new BrokerQueue(name + Wire.DEAD_LETTER_SUFFIX, options.ofDeadLetters(), null);
    return new BrokerQueue(name, options, dead);
  }

  QueueOptions options() {
    return options;
  }

  void change(QueueOptions newOptions) {
    options = newOptions;
  }

  boolean requiresSession() {
    return options.requiresSession();
  }

  BrokerSession session(@Nullable String id) {
    return sessions.computeIfAbsent(
        requiresSession() && id != null ? id : NO_SESSION, BrokerSession::new);
  }

  List<BrokerSession> sessions() {
    return List.copyOf(sessions.values());
  }

  /** Returns the number of its messages, locked or not. */
  long size() {
    return sessions.values().stream().mapToLong(session -> session.messages.size()).sum();
  }

  /** Returns a session with work and without an owner, the longest-waiting one first. */
  Optional<BrokerSession> nextSession(long now) {
    for (var session : sessions.values()) {
      if (session.holder == null && session.hasFreeMessage(now)) {
        return Optional.of(session);
      }
    }
    return Optional.empty();
  }

  void grant(BrokerSession session, ReceiverLink holder, long now) {
    session.holder = holder;
    session.lockedUntil = now + options.lockDuration().toMillis();
    sessions.remove(session.id);
    sessions.put(session.id, session);
  }

  /** Stores the message, unless its id was seen within the duplicate window. */
  Optional<StoredMessage> put(Message message, long now) {
    if (isDuplicate(message, now)) {
      return Optional.empty();
    }
    var stored =
        new StoredMessage(
            ++lastSequence,
            now,
            Math.max(now, scheduledFor(message)),
            expiry(message, now),
            message);
    earliestExpiry = Math.min(earliestExpiry, stored.expiresAt);
    session(message.getGroupId()).messages.put(stored.sequence, stored);
    return Optional.of(stored);
  }

  private boolean isDuplicate(Message message, long now) {
    if (options.duplicateWindow().isEmpty() || message.getMessageId() == null) {
      return false;
    }
    forgetIdsBefore(now - options.duplicateWindow().get().toMillis());
    return seenIds.putIfAbsent(message.getMessageId(), now) != null;
  }

  private void forgetIdsBefore(long oldest) {
    var seen = seenIds.values().iterator();
    while (seen.hasNext() && seen.next() < oldest) {
      seen.remove();
    }
  }

  private long expiry(Message message, long now) {
    long ttl = options.timeToLive().toMillis();
    long own = message.getTtl();
    return now + (own > 0 ? Math.min(own, ttl) : ttl);
  }

  @SuppressWarnings("JavaUtilDate") // Returns the time in the codec's type.
  private static long scheduledFor(Message message) {
    var annotations = message.getMessageAnnotations();
    return annotations != null
            && annotations.getValue() != null
            && annotations.getValue().get(SCHEDULED) instanceof Date at
        ? at.getTime()
        : 0;
  }

  /** Locks the message for a receiver, or for the management node if there is none. */
  UUID lock(StoredMessage message, @Nullable ReceiverLink holder, long until) {
    var token = UUID.randomUUID();
    message.lockToken = token;
    message.holder = holder;
    message.lockedUntil = until;
    locked.put(token, message);
    return token;
  }

  void unlock(StoredMessage message) {
    if (message.lockToken != null) {
      locked.remove(message.lockToken);
    }
    message.unlock();
  }

  void remove(StoredMessage message) {
    unlock(message);
    var session = session(message.content.getGroupId());
    session.messages.remove(message.sequence);
    forgetIfEmpty(session);
  }

  void forgetIfEmpty(BrokerSession session) {
    // The session object of a queue without sessions stays, because its receivers look there for
    // new messages.
    if (requiresSession() && session.isForgettable()) {
      sessions.remove(session.id);
    }
  }

  /** Applies the outcome given by a receiver. */
  void settle(StoredMessage message, @Nullable DeliveryState outcome) {
    unlock(message);
    if (outcome instanceof Accepted) {
      remove(message);
    } else if (outcome instanceof Rejected rejected) {
      var error = rejected.getError();
      deadLetter(message, error == null ? null : error.getInfo());
    } else if (outcome instanceof Modified modified) {
      message.changeProperties(modified.getMessageAnnotations());
      if (Boolean.TRUE.equals(modified.getUndeliverableHere())) {
        message.deferred = true;
      } else {
        countFailure(message);
      }
    }
  }

  /** Counts a failed delivery: abandoned, or its lock expired. */
  void countFailure(StoredMessage message) {
    message.deliveryCount++;
    if (message.deliveryCount >= options.maxDeliveryCount()) {
      deadLetter(message, "MaxDeliveryCountExceeded", "Delivered too often");
    }
  }

  void deadLetter(StoredMessage message, String reason, String description) {
    deadLetter(
        message, Map.of("DeadLetterReason", reason, "DeadLetterErrorDescription", description));
  }

  private void deadLetter(StoredMessage message, @Nullable Map<?, ?> info) {
    remove(message);
    if (deadLetters == null) {
      return;
    }
    message.changeProperties(info);
    message.annotate(
        Map.of("x-opt-deadletter-source", name, "x-opt-enqueue-sequence-number", message.sequence));
    // A subqueue has its own sequence numbers; the original number is in the annotation only.
    var copy =
        new StoredMessage(
            ++deadLetters.lastSequence, message.enqueuedAt, 0, Long.MAX_VALUE, message.content);
    copy.deliveryCount = message.deliveryCount;
    deadLetters.session(NO_SESSION).messages.put(copy.sequence, copy);
  }

  /** Dead-letters or drops expired messages that no client has locked. */
  void expireMessages(long now) {
    if (now < earliestExpiry) {
      return;
    }
    earliestExpiry = Long.MAX_VALUE;
    for (var session : sessions()) {
      for (var message : List.copyOf(session.messages.values())) {
        if (message.lockToken != null || message.expiresAt > now) {
          earliestExpiry = Math.min(earliestExpiry, message.expiresAt);
        } else if (options.deadLetterExpired()) {
          deadLetter(message, "TTLExpiredException", "The message expired");
        } else {
          remove(message);
        }
      }
    }
  }
}
