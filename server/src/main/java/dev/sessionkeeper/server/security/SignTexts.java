package dev.sessionkeeper.server.security;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;

/**
 * Turns a text into an opaque handle that only servers with the same secret can create. A handle is
 * bound to a context, such as a queue and a credential, which it does not contain.
 */
public final class SignTexts {
  /** HMAC-SHA-256, truncated as RFC 2104 allows: 128 bits cannot be guessed. */
  private static final int MAC_BYTES = 16;

  private final Mac keyed;

  SignTexts(byte[] key) {
    this.keyed = ServerSecret.keyed(key);
  }

  /** Returns the handle of this text in this context: MAC and text in Base64 for URLs. */
  public String sign(String text, String... context) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var handle =
        ByteBuffer.allocate(MAC_BYTES + bytes.length).put(mac(bytes, context)).put(bytes).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(handle);
  }

  /** Returns the text of a handle; empty if no server signed the handle in this context. */
  public Optional<String> verify(String handle, String... context) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(handle);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
    if (bytes.length < MAC_BYTES) {
      return Optional.empty();
    }
    var text = Arrays.copyOfRange(bytes, MAC_BYTES, bytes.length);
    var shown = Arrays.copyOf(bytes, MAC_BYTES);
    return MessageDigest.isEqual(shown, mac(text, context)) ? decode(text) : Optional.empty();
  }

  private static Optional<String> decode(byte[] text) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private byte[] mac(byte[] text, String... context) {
    var message = new ByteArrayOutputStream();
    // Each part is preceded by its length, so that different lists of parts never give the same
    // bytes.
    try (var out = new DataOutputStream(message)) {
      for (var part : context) {
        var bytes = part.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
      }
      out.writeInt(text.length);
      out.write(text);
    } catch (IOException e) {
      throw new UncheckedIOException("An array takes every byte", e);
    }
    return Arrays.copyOf(ServerSecret.copy(keyed).doFinal(message.toByteArray()), MAC_BYTES);
  }
}
