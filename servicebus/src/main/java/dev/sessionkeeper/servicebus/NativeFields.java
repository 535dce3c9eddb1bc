package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SessionId;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The native Service Bus fields that our messages do not have, as properties whose names begin with
 * {@value #PREFIX}.
 *
 * <p>Handlers read them there, and senders set them there. The scheduled time, and a session or
 * message id that is not valid here, can only be read.
 */
final class NativeFields {
  static final String PREFIX = "servicebus.";
  static final String SESSION_ID = PREFIX + "session-id";
  private static final String SUBJECT = PREFIX + "subject";
  private static final String CORRELATION_ID = PREFIX + "correlation-id";
  private static final String REPLY_TO = PREFIX + "reply-to";
  private static final String REPLY_TO_SESSION_ID = PREFIX + "reply-to-session-id";
  private static final String TO = PREFIX + "to";
  private static final String PARTITION_KEY = PREFIX + "partition-key";
  private static final String TIME_TO_LIVE = PREFIX + "time-to-live";
  private static final String SCHEDULED = PREFIX + "scheduled-enqueue-time";
  private static final String MESSAGE_ID = PREFIX + "message-id";

  private NativeFields() {}

  /**
   * Reads the fields that the producer has set.
   *
   * @param foreign whether another client sent the message: the broker shows its own time to live
   *     if the sender gave none, and ours is stored elsewhere
   */
  static Map<String, String> read(ServiceBusReceivedMessage received, boolean foreign) {
    var fields = new HashMap<String, String>();
    put(fields, SUBJECT, received.getSubject());
    put(fields, CORRELATION_ID, received.getCorrelationId());
    put(fields, REPLY_TO, received.getReplyTo());
    put(fields, REPLY_TO_SESSION_ID, received.getReplyToSessionId());
    put(fields, TO, received.getTo());
    put(fields, PARTITION_KEY, received.getPartitionKey());
    if (foreign) {
      put(fields, TIME_TO_LIVE, received.getTimeToLive());
      put(fields, SCHEDULED, received.getScheduledEnqueueTime());
    }
    if (received.getMessageId() != null && !isMessageId(received.getMessageId())) {
      put(fields, MESSAGE_ID, received.getMessageId());
    }
    if (received.getSessionId() != null && !isSessionId(received.getSessionId())) {
      put(fields, SESSION_ID, received.getSessionId());
    }
    return fields;
  }

  private static void put(Map<String, String> fields, String name, @Nullable Object value) {
    if (value != null) {
      fields.put(name, value.toString());
    }
  }

  static boolean isMessageId(String text) {
    try {
      return !MessageId.of(text).value().isEmpty();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  static boolean isSessionId(String text) {
    try {
      return !SessionId.of(text).value().isEmpty();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Sets the field of this name.
   *
   * @return whether the name is that of a native field; otherwise nothing was changed
   * @throws KeeperException.Rejected if the value does not fit the field
   */
  static boolean write(ServiceBusMessage message, String name, String value) {
    try {
      switch (name) {
        case SUBJECT -> message.setSubject(value);
        case CORRELATION_ID -> message.setCorrelationId(value);
        case REPLY_TO -> message.setReplyTo(value);
        case REPLY_TO_SESSION_ID -> message.setReplyToSessionId(value);
        case TO -> message.setTo(value);
        case PARTITION_KEY -> message.setPartitionKey(value);
        case TIME_TO_LIVE -> message.setTimeToLive(Duration.parse(value));
        case SCHEDULED, MESSAGE_ID, SESSION_ID -> {
          // The broker sets these; senders use notBefore, the id and the session instead.
        }
        default -> {
          return false;
        }
      }
      return true;
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new KeeperException.Rejected(
          "Service Bus does not take the value of property " + name + ": " + e.getMessage(), e);
    }
  }
}
