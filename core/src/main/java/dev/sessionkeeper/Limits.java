package dev.sessionkeeper;

import java.time.Duration;
import java.util.List;

/**
 * The most that a provider accepts in one call. A provider checks a call before it sends anything,
 * and the error names limit and value.
 *
 * @param maxBatch messages in one send
 * @param maxBodyBytes bytes of one body
 * @param maxProperties properties of one message
 * @param maxPropertyBytes bytes of all names and values of one message's properties, as UTF-8
 */
public record Limits(int maxBatch, int maxBodyBytes, int maxProperties, int maxPropertyBytes) {
  /**
   * The limits of every provider that has no stricter ones: 1,000 messages, 1 MiB, 64 properties,
   * 64 KiB.
   */
  public static final Limits DEFAULT = new Limits(1000, 1 << 20, 64, 1 << 16);

  /**
   * Refuses messages that exceed a limit or do not fit the queue.
   *
   * @throws KeeperException.LimitExceeded naming limit and value
   * @throws KeeperException.SessionModeMismatch if a message's session does not fit the queue's
   *     mode
   */
  public void check(QueueName queue, QueueMode mode, List<Message> messages) {
    require("maxBatch", maxBatch, messages.size());
    for (var message : messages) {
      require("maxBodyBytes", maxBodyBytes, message.payload().size());
      require("maxProperties", maxProperties, message.properties().size());
      require("maxPropertyBytes", maxPropertyBytes, propertyBytes(message));
      if (message.session().isPresent() != (mode == QueueMode.ORDERED)) {
        throw new KeeperException.SessionModeMismatch(queue, mode, message.id());
      }
    }
  }

  private static void require(String limit, int allowed, int actual) {
    if (actual > allowed) {
      throw new KeeperException.LimitExceeded(limit, allowed, actual);
    }
  }

  static int propertyBytes(Message message) {
    int bytes = 0;
    for (var property : message.properties().entrySet()) {
      bytes += utf8Length(property.getKey()) + utf8Length(property.getValue());
    }
    return bytes;
  }

  private static int utf8Length(String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      // A surrogate pair takes four bytes in UTF-8: two for each half.
      bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return bytes;
  }

  static void requirePositive(String name, Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + " must be longer than zero, was " + value);
    }
  }

  static void requireNotNegative(String name, Duration value) {
    if (value.isNegative()) {
      throw new IllegalArgumentException(name + " must not be negative, was " + value);
    }
  }
}
