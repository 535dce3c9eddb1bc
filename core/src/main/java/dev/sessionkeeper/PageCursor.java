package dev.sessionkeeper;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The token for the next page of a list: opaque text with the last item's key, the list's name and
 * a checksum. The checksum lets a list refuse text that it did not issue.
 */
public final class PageCursor {
  private static final char SEPARATOR = '\u001f';

  private PageCursor() {}

  /** Returns the cursor behind the item with this key in this list. */
  public static String after(String list, String... key) {
    var text = list + SEPARATOR + String.join(String.valueOf(SEPARATOR), key);
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var buffer = ByteBuffer.allocate(bytes.length + Integer.BYTES).putInt(sum(bytes)).put(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(buffer.array());
  }

  /**
   * Returns the key behind which the next page begins.
   *
   * @throws KeeperException.InvalidCursor if this list did not issue the cursor
   */
  public static List<String> keyOf(String list, int parts, String cursor) {
    var key = decode(cursor);
    if (key.size() != parts + 1 || !key.get(0).equals(list)) {
      throw new KeeperException.InvalidCursor(cursor);
    }
    return key.subList(1, key.size());
  }

  /**
   * Returns the number behind which the next page of a numbered list begins.
   *
   * @throws KeeperException.InvalidCursor if this list did not issue the cursor
   */
  public static long numberOf(String list, String cursor) {
    try {
      return Long.parseLong(keyOf(list, 1, cursor).get(0));
    } catch (NumberFormatException e) {
      throw new KeeperException.InvalidCursor(cursor);
    }
  }

  private static List<String> decode(String cursor) {
    try {
      var buffer = ByteBuffer.wrap(Base64.getUrlDecoder().decode(cursor));
      if (buffer.remaining() <= Integer.BYTES) {
        throw new KeeperException.InvalidCursor(cursor);
      }
      int expected = buffer.getInt();
      var bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      if (sum(bytes) != expected) {
        throw new KeeperException.InvalidCursor(cursor);
      }
      return split(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw new KeeperException.InvalidCursor(cursor);
    }
  }

  private static List<String> split(String text) {
    var parts = new ArrayList<String>();
    int from = 0;
    for (int at = text.indexOf(SEPARATOR); at >= 0; at = text.indexOf(SEPARATOR, from)) {
      parts.add(text.substring(from, at));
      from = at + 1;
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static int sum(byte[] bytes) {
    var sum = new CRC32();
    sum.update(bytes);
    return (int) sum.getValue();
  }
}
