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
    if (value.isBlank() || value.length() > MAX_LENGTH || !isPlain(value)) {
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

  /**
   * Creates a unique id: a UUID that begins with the time (version 7). Stores that index ids write
   * those that are made together to one place.
   */
  public static MessageId random() {
    return new MessageId(TimedIds.next().toString());
  }

  /**
   * For providers: returns whether this process created the id, at the first call only. A caller
   * that is told so is the first to use it, unless the id was given away. An id that has not been
   * used for long is not known any more, and then this is false.
   */
  public static boolean isFirstUse(UUID id) {
    return TimedIds.takeUnused(id);
  }

  private static boolean isPlain(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (Character.isISOControl(c) || Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    return value;
  }
}
