package dev.sessionkeeper.registry.usage;

import java.io.ByteArrayOutputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * The body of a batch as stored, in the format of zlib (RFC 1950).
 *
 * <p>Compressed here and not by PostgreSQL: in a third of the time, and with a tenth of the bytes
 * sent to the database. The digest belongs to the uncompressed body, so other compression changes
 * nothing for receivers.
 */
final class PackedBody {
  // Higher levels take three times as long for a tenth of the size.
  private static final int LEVEL = 3;
  private static final int BUFFER = 16 << 10;

  private PackedBody() {}

  static byte[] pack(byte[] body) {
    var packed = new ByteArrayOutputStream(BUFFER);
    var buffer = new byte[BUFFER];
    var deflater = new Deflater(LEVEL);
    try {
      deflater.setInput(body);
      deflater.finish();
      while (!deflater.finished()) {
        packed.write(buffer, 0, deflater.deflate(buffer));
      }
      return packed.toByteArray();
    } finally {
      deflater.end();
    }
  }

  /**
   * Returns the uncompressed body.
   *
   * @throws IllegalStateException if the bytes are not a complete compressed body
   */
  static byte[] unpack(byte[] packed) {
    var body = new ByteArrayOutputStream(packed.length * 8);
    var buffer = new byte[BUFFER];
    var inflater = new Inflater();
    try {
      inflater.setInput(packed);
      while (!inflater.finished()) {
        int count = inflater.inflate(buffer);
        if (count == 0 && !inflater.finished()) {
          throw new IllegalStateException("A packed body of " + packed.length + " bytes is cut");
        }
        body.write(buffer, 0, count);
      }
      return body.toByteArray();
    } catch (DataFormatException e) {
      throw new IllegalStateException("A packed body is damaged", e);
    } finally {
      inflater.end();
    }
  }
}
