package dev.sessionkeeper.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs and verifies requests as Standard Webhooks defines: HMAC-SHA-256 over {@code
 * id.seconds.body}.
 *
 * <p>During a rotation there are several secrets: a request then carries a signature for each of
 * them, and a receiver that knows any one accepts the request. Immutable; secrets are never
 * printed.
 */
public final class WebhookSignature {
  /** The header with the id, which is the same for all retries. */
  public static final String ID_HEADER = "webhook-id";

  /** The header with the time of this attempt, in seconds since 1970. */
  public static final String TIMESTAMP_HEADER = "webhook-timestamp";

  /** The header with the signatures, separated by spaces. */
  public static final String SIGNATURE_HEADER = "webhook-signature";

  private static final String PREFIX = "whsec_";
  private static final String VERSION = "v1,";
  private static final int LEAST_BYTES = 16;
  private static final int MOST_BYTES = 128;

  private final List<SecretKeySpec> keys;

  private WebhookSignature(List<SecretKeySpec> keys) {
    this.keys = keys;
  }

  /**
   * Returns the signature with one secret: base64 of 16 to 128 bytes, with or without the prefix
   * {@code whsec_}.
   */
  public static WebhookSignature of(String secret) {
    return of(List.of(secret));
  }

  /** Returns the signature with several secrets, the newest first. */
  public static WebhookSignature of(List<String> secrets) {
    if (secrets.isEmpty()) {
      throw new IllegalArgumentException("A webhook signature needs at least one secret, had none");
    }
    return new WebhookSignature(secrets.stream().map(WebhookSignature::keyOf).toList());
  }

  /** Returns the value of the signature header. */
  public String sign(String id, Instant timestamp, byte[] body) {
    return keys.stream()
        .map(key -> VERSION + Base64.getEncoder().encodeToString(mac(key, id, timestamp, body)))
        .collect(Collectors.joining(" "));
  }

  /**
   * Returns whether the sender knows a secret, and the request's time differs from now by at most
   * the tolerance.
   *
   * @param timestamp the header as received
   * @param signatures the header as received
   */
  public boolean verify(
      String id,
      String timestamp,
      String signatures,
      byte[] body,
      Instant now,
      Duration tolerance) {
    Instant sent;
    try {
      sent = Instant.ofEpochSecond(Long.parseLong(timestamp));
      if (Duration.between(sent, now).abs().compareTo(tolerance) > 0) {
        return false;
      }
    } catch (RuntimeException notATime) {
      return false;
    }
    boolean known = false;
    for (var key : keys) {
      byte[] wanted = mac(key, id, sent, body);
      for (var signature : signatures.split(" ", -1)) {
        // No early exit: the time of the comparison must not reveal which part was right.
        known |= signature.startsWith(VERSION) && isEqual(wanted, signature.substring(3));
      }
    }
    return known;
  }

  @Override
  public String toString() {
    return "WebhookSignature with " + keys.size() + " secret" + (keys.size() == 1 ? "" : "s");
  }

  private static boolean isEqual(byte[] wanted, String given) {
    try {
      return MessageDigest.isEqual(wanted, Base64.getDecoder().decode(given));
    } catch (IllegalArgumentException notBase64) {
      return false;
    }
  }

  private static SecretKeySpec keyOf(String secret) {
    byte[] bytes;
    try {
      bytes =
          Base64.getDecoder()
              .decode(secret.startsWith(PREFIX) ? secret.substring(PREFIX.length()) : secret);
    } catch (IllegalArgumentException notBase64) {
      // Without the cause, whose message would reveal a character of the secret.
      throw new IllegalArgumentException(
          "A webhook secret is whsec_ and base64, was something else of length " + secret.length());
    }
    if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
      throw new IllegalArgumentException(
          "A webhook secret has 16 to 128 bytes in base64, was " + bytes.length + " bytes");
    }
    return new SecretKeySpec(bytes, "HmacSHA256");
  }

  private static byte[] mac(SecretKeySpec key, String id, Instant timestamp, byte[] body) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      mac.update((id + "." + timestamp.getEpochSecond() + ".").getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("Every Java platform has HmacSHA256", e);
    }
  }
}
