package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.UUID;

/**
 * Identifies an event permanently: the same delivery has the same id on every machine, so that
 * redeliveries and replays are recognised.
 */
public record EventId(UUID value) {
  /** Derives the id from provider and delivery id, ignoring the delivery id's case. */
  public static EventId of(String provider, String deliveryId) {
    var key = provider + "\n" + deliveryId.toLowerCase(Locale.ROOT);
    var digest = ByteBuffer.wrap(sha256(key.getBytes(UTF_8)));
    // Version 8 of RFC 9562: 122 bits of our own definition.
    long most = (digest.getLong() & ~0xf000L) | 0x8000L;
    long least = (digest.getLong() & ~(0b11L << 62)) | (0b10L << 62);
    return new EventId(new UUID(most, least));
  }

  static EventId ofGitHub(String deliveryId) {
    return of("github", deliveryId);
  }

  public static EventId parse(String text) {
    return new EventId(UUID.fromString(text));
  }

  @Override
  public String toString() {
    return value.toString();
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
