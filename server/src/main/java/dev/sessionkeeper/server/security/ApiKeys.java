package dev.sessionkeeper.server.security;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/**
 * Creates API keys: {@code sk_<prefix>_<secret>}. The prefix identifies a key in lists and logs.
 */
public final class ApiKeys {
  private static final int PREFIX_BYTES = 4;
  private static final int SECRET_BYTES = 24;

  private ApiKeys() {}

  /**
   * A new key, shown once.
   *
   * @param sha256 the digest for the configuration
   */
  public record Generated(String key, String prefix, String sha256) {
    @Override
    public String toString() {
      return prefix;
    }
  }

  public static Generated generate() {
    var random = new SecureRandom();
    var prefix = new byte[PREFIX_BYTES];
    var secret = new byte[SECRET_BYTES];
    random.nextBytes(prefix);
    random.nextBytes(secret);
    var name = "sk_" + HexFormat.of().formatHex(prefix);
    var key = name + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    return new Generated(key, name, digest(key));
  }

  /** The SHA-256 of a key in hexadecimal digits. */
  public static String digest(String key) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
