package dev.sessionkeeper.cursors;

import java.util.regex.Pattern;

/**
 * Names the cursor of a subscriber on a stream.
 *
 * @param stream 1 to 128 letters, digits, dots, colons, underscores and hyphens
 * @param subscriber the same
 */
public record CursorKey(String stream, String subscriber) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,128}");

  public CursorKey {
    requireName("stream", stream);
    requireName("subscriber", subscriber);
  }

  /** Returns whether the text may name a stream or a subscriber. */
  public static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }

  private static void requireName(String what, String name) {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          what + " must be 1 to 128 letters, digits, dots, colons, underscores and hyphens");
    }
  }

  /** Returns the prefix of the keys of all cursors on a stream. */
  static String prefixOf(String stream) {
    return stream + "/";
  }

  /** Returns the key under which the cursor is stored. */
  String asText() {
    // Names contain no slash, so different cursors have different keys.
    return prefixOf(stream) + subscriber;
  }
}
