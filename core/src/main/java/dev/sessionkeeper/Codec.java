package dev.sessionkeeper;

/**
 * Converts values of the application to payloads and back. Safe for use by many threads.
 *
 * <p>{@code JacksonCodec} in {@code sessionkeeper-jackson} is a codec for JSON.
 */
public interface Codec<T> {

  /**
   * Writes a value as a body.
   *
   * @throws KeeperException.Rejected if the value cannot be written
   */
  Payload encode(T value);

  /**
   * Reads a body.
   *
   * @throws KeeperException.Rejected if the body cannot be read; trying again does not help
   */
  T decode(Payload payload);

  /** Returns a codec for text in UTF-8. */
  static Codec<String> text() {
    return TextCodec.INSTANCE;
  }

  /** Returns a codec that leaves bytes as they are. */
  static Codec<byte[]> bytes() {
    return BytesCodec.INSTANCE;
  }
}

/** Reads bodies of every form as text. */
enum TextCodec implements Codec<String> {
  INSTANCE;

  @Override
  public Payload encode(String value) {
    return Payload.text(value);
  }

  @Override
  public String decode(Payload payload) {
    return payload.asText();
  }
}

/** Reads bodies of every form as bytes. */
enum BytesCodec implements Codec<byte[]> {
  INSTANCE;

  @Override
  public Payload encode(byte[] value) {
    return Payload.bytes(value, "application/octet-stream");
  }

  @Override
  public byte[] decode(Payload payload) {
    return payload.toBytes();
  }
}
