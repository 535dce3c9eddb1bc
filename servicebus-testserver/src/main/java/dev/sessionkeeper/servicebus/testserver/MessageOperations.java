package dev.sessionkeeper.servicebus.testserver;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.qpid.proton.amqp.Binary;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.messaging.Accepted;
import org.apache.qpid.proton.amqp.messaging.Modified;
import org.apache.qpid.proton.amqp.messaging.Rejected;
import org.apache.qpid.proton.amqp.transport.DeliveryState;
import org.apache.qpid.proton.amqp.transport.ErrorCondition;

/** The management operations on messages. Event loop only. */
final class MessageOperations {
  private final BrokerQueue queue;
  private final ManagementRequest request;
  private final InstantSource clock;

  MessageOperations(BrokerQueue queue, ManagementRequest request, InstantSource clock) {
    this.queue = queue;
    this.request = request;
    this.clock = clock;
  }

  Map<String, Object> renewLocks() throws ManagementRefusal {
    var ends = new ArrayList<Date>();
    for (var message : lockedMessages()) {
      message.lockedUntil = clock.millis() + queue.options().lockDuration().toMillis();
      ends.add(Wire.timestamp(message.lockedUntil));
    }
    return Map.of("expirations", ends.toArray(new Date[0]));
  }

  Map<String, Object> peek() {
    long from = request.number("from-sequence-number");
    int max = (int) request.number("message-count");
    var messages = new TreeMap<Long, StoredMessage>();
    var session = request.session();
    if (session != null) {
      messages.putAll(queue.session(session).messages);
    } else {
      queue.sessions().forEach(each -> messages.putAll(each.messages));
    }
    var found = new ArrayList<Map<String, Object>>();
    for (var message : messages.tailMap(from).values()) {
      if (found.size() < max) {
        found.add(new HashMap<>(Map.of("message", new Binary(Wire.encode(message)))));
      }
    }
    return found.isEmpty() ? Map.of() : Map.of("messages", found);
  }

  Map<String, Object> receiveDeferred() throws ManagementRefusal {
    var session = queue.session(request.session());
    var found = new ArrayList<Map<String, Object>>();
    for (var number : request.list("sequence-numbers")) {
      var message = session.messages.get(((Number) number).longValue());
      if (message == null || !message.deferred) {
        throw ManagementRefusal.notFound("com.microsoft:message-not-found");
      }
      long until =
          queue.requiresSession()
              ? session.lockedUntil
              : clock.millis() + queue.options().lockDuration().toMillis();
      var token = queue.lock(message, session.holder, until);
      found.add(
          new HashMap<>(Map.of("message", new Binary(Wire.encode(message)), "lock-token", token)));
    }
    return Map.of("messages", found);
  }

  Map<String, Object> settle() throws ManagementRefusal {
    for (var message : lockedMessages()) {
      queue.settle(message, outcome());
    }
    Broker.wakeReceivers(queue);
    return Map.of();
  }

  private DeliveryState outcome() {
    return switch ((String) request.required("disposition-status")) {
      case "completed" -> Accepted.getInstance();
      case "suspended" -> rejected();
      case "defered" -> {
        var modified = new Modified();
        modified.setUndeliverableHere(true);
        yield modified;
      }
      default -> new Modified();
    };
  }

  private Rejected rejected() {
    var info = new HashMap<String, Object>();
    info.put("DeadLetterReason", textOf("deadletter-reason"));
    info.put("DeadLetterErrorDescription", textOf("deadletter-description"));
    var error = new ErrorCondition(Symbol.valueOf("com.microsoft:dead-letter"), null);
    error.setInfo(info);
    var rejected = new Rejected();
    rejected.setError(error);
    return rejected;
  }

  private String textOf(String name) {
    return request.optional(name) instanceof String text ? text : "";
  }

  Map<String, Object> schedule() {
    var numbers = new ArrayList<Long>();
    for (var item : request.list("messages")) {
      var content = Wire.decode(contentOf((Map<?, ?>) item));
      queue.put(content, clock.millis()).ifPresent(stored -> numbers.add(stored.sequence));
    }
    // The encoder needs Long[], not long[].
    return Map.of("sequence-numbers", numbers.toArray(new Long[0]));
  }

  private static Binary contentOf(Map<?, ?> item) {
    if (item.get("message") instanceof Binary content) {
      return content;
    }
    throw new IllegalArgumentException("schedule-message needs message");
  }

  Map<String, Object> cancelScheduled() {
    for (var number : request.list("sequence-numbers")) {
      queue.sessions().forEach(session -> session.messages.remove(((Number) number).longValue()));
    }
    return Map.of();
  }

  private List<StoredMessage> lockedMessages() throws ManagementRefusal {
    var messages = new ArrayList<StoredMessage>();
    for (var token : request.list("lock-tokens")) {
      var message = queue.locked.get((UUID) token);
      if (message == null) {
        throw ManagementRefusal.gone(Wire.MESSAGE_LOCK_LOST);
      }
      messages.add(message);
    }
    return messages;
  }
}
