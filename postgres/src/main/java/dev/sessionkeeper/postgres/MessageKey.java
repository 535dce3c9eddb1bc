package dev.sessionkeeper.postgres;

import dev.sessionkeeper.MessageId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/** What message ids are told apart by in the duplicate window: half of their SHA-256. */
final class MessageKey {
  private MessageKey() {}

  static UUID of(MessageId id) {
    try {
      var digest =
          MessageDigest.getInstance("SHA-256").digest(id.value().getBytes(StandardCharsets.UTF_8));
      var halves = ByteBuffer.wrap(digest);
      return new UUID(halves.getLong(), halves.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
