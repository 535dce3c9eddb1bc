package dev.sessionkeeper;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The body of a message: its bytes, their content type, and the form in which the sender gave them.
 * Immutable.
 */
public final class Payload {
  /** The form in which the sender gave the body. A receiver gets it back in the same form. */
  public enum Form {
    JSON,
    TEXT,
    BYTES
  }

  private static final Payload EMPTY =
      new Payload(new byte[0], Form.BYTES, "application/octet-stream");

  private final byte[] bytes;
  private final Form form;
  private final String contentType;

  private Payload(byte[] bytes, Form form, String contentType) {
    this.bytes = bytes;
    this.form = form;
    this.contentType = contentType;
  }

  /** A JSON document, kept as written. */
  public static Payload json(String document) {
    return new Payload(document.getBytes(StandardCharsets.UTF_8), Form.JSON, "application/json");
  }

  public static Payload text(String text) {
    return text(text, "text/plain; charset=utf-8");
  }

  public static Payload text(String text, String contentType) {
    return new Payload(text.getBytes(StandardCharsets.UTF_8), Form.TEXT, contentType);
  }

  public static Payload bytes(byte[] bytes, String contentType) {
    return new Payload(bytes.clone(), Form.BYTES, contentType);
  }

  public static Payload empty() {
    return EMPTY;
  }

  /**
   * For providers: returns a payload as it was stored. The array is not copied and must not be
   * changed afterwards.
   */
  public static Payload stored(byte[] bytes, Form form, String contentType) {
    return new Payload(bytes, form, contentType);
  }

  public Form form() {
    return form;
  }

  public String contentType() {
    return contentType;
  }

  public int size() {
    return bytes.length;
  }

  public byte[] toBytes() {
    return bytes.clone();
  }

  /** For providers: returns the array itself, not a copy. It must not be changed. */
  public byte[] unsafeBytes() {
    return bytes;
  }

  /** Returns the body read as UTF-8. */
  public String asText() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Payload that
        && form == that.form
        && contentType.equals(that.contentType)
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return contentType + ", " + bytes.length + " bytes";
  }
}
