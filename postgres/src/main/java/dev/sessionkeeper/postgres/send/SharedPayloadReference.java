package dev.sessionkeeper.postgres.send;

import java.nio.ByteBuffer;
import java.util.UUID;

/** The reference of a message to a payload that is stored once for several messages. */
public final class SharedPayloadReference {
  /** Added to the form of a message whose payload is a reference. */
  private static final int SHARED = 4;

  private SharedPayloadReference() {}

  /** Returns the form of a message that refers to a payload of this form. */
  static short form(short form) {
    return (short) (form + SHARED);
  }

  /** Returns the bytes that stand in place of the payload. */
  static byte[] bytes(UUID id) {
    return ByteBuffer.allocate(16)
        .putLong(id.getMostSignificantBits())
        .putLong(id.getLeastSignificantBits())
        .array();
  }
}
