package dev.sessionkeeper;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Names a session: 1 to 128 characters of any script, without control characters, not blank.
 *
 * <p>Messages of one session are handled one at a time, in the order they were sent. A character
 * outside the basic plane, such as an emoji, counts as two.
 */
public record SessionId(String value) implements Comparable<SessionId> {
  /** The most characters of an id. */
  public static final int MAX_LENGTH = 128;

  private static final int DIGEST_LENGTH = 32;

  public SessionId {
    if (value.isBlank() || value.length() > MAX_LENGTH || !isPlain(value)) {
      throw new IllegalArgumentException(
          "A session id has 1 to 128 characters, no control characters, and is not blank, was "
              + Quoted.of(value)
              + " of length "
              + value.length());
    }
  }

  public static SessionId of(String value) {
    return new SessionId(value);
  }

  /** Creates a session id for a single message that needs no order. */
  public static SessionId unique() {
    return new SessionId(UUID.randomUUID().toString());
  }

  /**
   * Returns the id for a key of any length and any characters. A key of up to 128 printable ASCII
   * characters is the id; any other becomes its first 95 characters, {@code ~} and half of its
   * SHA-256. Equal keys give equal ids, on every machine and in every version.
   */
  public static SessionId fromKey(String key) {
    if (key.length() <= MAX_LENGTH && !key.isBlank() && isPrintableAscii(key)) {
      return new SessionId(key);
    }
    var readable = new StringBuilder();
    for (int i = 0; i < key.length() && readable.length() < MAX_LENGTH - DIGEST_LENGTH - 1; i++) {
      readable.append(isPrintable(key.charAt(i)) ? key.charAt(i) : '_');
    }
    return new SessionId(readable + "~" + digest(key).substring(0, DIGEST_LENGTH));
  }

  @Override
  public int compareTo(SessionId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }

  /** Returns whether the text is well-formed Unicode without control characters. */
  private static boolean isPlain(String text) {
    // Most ids are ASCII, and every message that is sent or received has one.
    return isPrintableAscii(text) || hasNoControlCharacters(text);
  }

  private static boolean hasNoControlCharacters(String text) {
    return text.codePoints()
        .noneMatch(c -> Character.isISOControl(c) || (c >= 0xd800 && c <= 0xdfff));
  }

  private static boolean isPrintableAscii(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!isPrintable(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPrintable(char c) {
    return c >= 0x20 && c < 0x7f;
  }

  private static String digest(String key) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
