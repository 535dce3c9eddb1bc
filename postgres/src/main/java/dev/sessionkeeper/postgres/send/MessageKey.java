package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.MessageId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The keys of message ids in the duplicate window: half of their SHA-256, or the id itself if it is
 * a UUID that begins with its time. Such keys are neighbours in the index, so remembering many
 * costs little more than remembering one.
 */
public final class MessageKey {
  private static final int UUID_LENGTH = 36;
  private static final int TIMED = 7;
  private static final int HASHED = 8;
  private static final long VERSION_BITS = 0xF000;

  private MessageKey() {}

  static UUID of(MessageId id) {
    var value = id.value();
    return isTimed(value) ? UUID.fromString(value) : hashed(value);
  }

  /** Returns whether the key is an id that begins with its time; a hash never is. */
  static boolean isTimed(UUID key) {
    return key.version() == TIMED;
  }

  /**
   * Returns whether an id is its own key: only if it has the form that {@link UUID#toString}
   * writes.
   */
  static boolean isTimed(String value) {
    if (value.length() != UUID_LENGTH || value.charAt(14) != '0' + TIMED) {
      return false;
    }
    for (int i = 0; i < UUID_LENGTH; i++) {
      char c = value.charAt(i);
      boolean isDash = i == 8 || i == 13 || i == 18 || i == 23;
      if (isDash ? c != '-' : (c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return true;
  }

  /** Returns the hash as a UUID of version 8, which no id has. */
  private static UUID hashed(String value) {
    try {
      var digest =
          MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8));
      var halves = ByteBuffer.wrap(digest);
      return new UUID((halves.getLong() & ~VERSION_BITS) | (HASHED << 12), halves.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
