package dev.sessionkeeper;

import java.util.UUID;

/**
 * Tells messages of a queue apart: 1 to 128 characters, no control characters. The same id twice is
 * stored once.
 */
public record MessageId(String value) {
  /** How long an id may be. */
  public static final int MAX_LENGTH = 128;

  public MessageId {
    if (value.isBlank()
        || value.length() > MAX_LENGTH
        || value
            .chars()
            .anyMatch(c -> Character.isISOControl(c) || Character.isSurrogate((char) c))) {
      throw new IllegalArgumentException(
          "A message id has 1 to 128 characters, none of them a control character, was "
              + Quoted.of(value)
              + " of length "
              + value.length());
    }
  }

  public static MessageId of(String value) {
    return new MessageId(value);
  }

  public static MessageId random() {
    return new MessageId(UUID.randomUUID().toString());
  }

  @Override
  public String toString() {
    return value;
  }
}
