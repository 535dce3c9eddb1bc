package dev.sessionkeeper.servicebus.testserver;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.apache.qpid.proton.Proton;
import org.apache.qpid.proton.amqp.Binary;
import org.apache.qpid.proton.amqp.Symbol;
import org.apache.qpid.proton.amqp.UnsignedInteger;
import org.apache.qpid.proton.amqp.messaging.Data;
import org.apache.qpid.proton.amqp.messaging.Header;
import org.apache.qpid.proton.codec.AMQPDefinedTypes;
import org.apache.qpid.proton.codec.DecoderImpl;
import org.apache.qpid.proton.codec.EncoderImpl;
import org.apache.qpid.proton.message.Message;

/** The Service Bus dialect of AMQP: names, time units, identifiers, batches. */
final class Wire {
  static final Symbol SESSION_FILTER = Symbol.valueOf("com.microsoft:session-filter");
  static final Symbol LOCKED_UNTIL = Symbol.valueOf("com.microsoft:locked-until-utc");
  static final Symbol TIMEOUT = Symbol.valueOf("com.microsoft:timeout");
  static final Symbol SESSION_LOCK_LOST = Symbol.valueOf("com.microsoft:session-lock-lost");
  static final Symbol MESSAGE_LOCK_LOST = Symbol.valueOf("com.microsoft:message-lock-lost");
  static final Symbol SESSION_LOCKED = Symbol.valueOf("com.microsoft:session-cannot-be-locked");
  static final Symbol NOT_FOUND = Symbol.valueOf("amqp:not-found");
  static final Symbol NOT_ALLOWED = Symbol.valueOf("amqp:not-allowed");
  static final String CBS = "$cbs";
  static final String DEAD_LETTER_SUFFIX = "/$deadletterqueue";
  static final int MAX_MESSAGE_BYTES = 1 << 20;

  private static final String MANAGEMENT_SUFFIX = "/$management";
  private static final int BATCH_FORMAT = 0x80013700;
  private static final long TICKS_OF_1970 = 621_355_968_000_000_000L;
  private static final int[] GUID_ORDER = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

  private Wire() {}

  static boolean isManagement(String address) {
    return address.endsWith(MANAGEMENT_SUFFIX);
  }

  static boolean isNode(String address) {
    return address.equals(CBS) || isManagement(address);
  }

  /**
   * Returns the key of a queue: names are case insensitive, and a management node belongs to its
   * queue.
   */
  static String queueOf(String address) {
    var queue =
        isManagement(address)
            ? address.substring(0, address.length() - MANAGEMENT_SUFFIX.length())
            : address;
    return queue.toLowerCase(Locale.ROOT);
  }

  /** Converts milliseconds since 1970 to units of 100 ns since the year 1. */
  static long ticks(long millis) {
    return millis * 10_000 + TICKS_OF_1970;
  }

  /** Returns a moment in the codec's type. */
  @SuppressWarnings("JavaUtilDate")
  static Date timestamp(long millis) {
    return new Date(millis);
  }

  /** Returns a delivery tag: a UUID in the byte order of .NET. */
  static byte[] guid(UUID id) {
    var ordered =
        ByteBuffer.allocate(16)
            .putLong(id.getMostSignificantBits())
            .putLong(id.getLeastSignificantBits())
            .array();
    var guid = new byte[16];
    for (int i = 0; i < 16; i++) {
      guid[GUID_ORDER[i]] = ordered[i];
    }
    return guid;
  }

  /** Returns the messages of one transfer: one, or those of a batch. */
  static List<Message> decode(byte[] transfer, int format) {
    if (format != BATCH_FORMAT) {
      return List.of(decode(transfer, 0, transfer.length));
    }
    var decoder = new DecoderImpl();
    AMQPDefinedTypes.registerAllTypes(decoder, new EncoderImpl(decoder));
    var buffer = ByteBuffer.wrap(transfer);
    decoder.setByteBuffer(buffer);
    var messages = new ArrayList<Message>();
    while (buffer.hasRemaining()) {
      if (decoder.readObject() instanceof Data data) {
        messages.add(decode(data.getValue()));
      }
    }
    return messages;
  }

  static Message decode(Binary bytes) {
    return decode(bytes.getArray(), bytes.getArrayOffset(), bytes.getLength());
  }

  private static Message decode(byte[] bytes, int offset, int length) {
    var message = Proton.message();
    message.decode(bytes, offset, length);
    return message;
  }

  /** Encodes a message for a receiver. The SDK needs a header and these annotations. */
  static byte[] encode(StoredMessage stored) {
    var message = stored.content;
    if (message.getHeader() == null) {
      message.setHeader(new Header());
    }
    message.getHeader().setDeliveryCount(UnsignedInteger.valueOf(stored.deliveryCount));
    stored.annotate(
        Map.of(
            "x-opt-sequence-number",
            stored.sequence,
            "x-opt-enqueued-time",
            timestamp(stored.enqueuedAt),
            "x-opt-locked-until",
            timestamp(stored.lockedUntil),
            "x-opt-message-state",
            stored.deferred ? 1 : 0));
    return encode(message);
  }

  static byte[] encode(Message message) {
    var buffer = new byte[4096];
    while (true) {
      try {
        return Arrays.copyOf(buffer, message.encode(buffer, 0, buffer.length));
      } catch (BufferOverflowException tooSmall) {
        buffer = new byte[buffer.length * 4];
      }
    }
  }
}
