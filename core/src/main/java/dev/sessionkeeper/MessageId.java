package dev.sessionkeeper;

import java.util.UUID;

/**
 * Identifies a message within its queue: 1 to 128 characters, no control characters. The queue
 * stores a second message with the same id only after the duplicate window.
 */
public record MessageId(String value) {
  /** The most characters of an id. */
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
   * Creates a unique id: a UUID that begins with the time (version 7). Ids created together are
   * neighbours in an index, so a store writes them to the same pages.
   */
  public static MessageId random() {
    return new MessageId(TimedIds.next().toString());
  }

  /**
   * For providers: returns whether this process created the id and asks about it for the first
   * time. Such an id cannot be a duplicate, unless the application sent it elsewhere. An id from
   * long ago is forgotten, and the answer is then false.
   */
  public static boolean claimFirstUse(UUID id) {
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
