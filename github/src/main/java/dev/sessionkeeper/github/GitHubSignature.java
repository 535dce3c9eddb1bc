package dev.sessionkeeper.github;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Checks that the sender of a delivery knows one of the secrets: the header {@code
 * X-Hub-Signature-256} is {@code sha256=} and the HMAC-SHA-256 of the raw body in hex.
 *
 * <p>Several secrets allow rotation. Immutable; secrets are never printed.
 */
public final class GitHubSignature {
  private static final String PREFIX = "sha256=";
  private static final Pattern FORM = Pattern.compile(PREFIX + "[0-9a-fA-F]{64}");

  private final List<SecretKeySpec> keys;

  private GitHubSignature(List<SecretKeySpec> keys) {
    this.keys = keys;
  }

  public static GitHubSignature of(List<String> secrets) {
    if (secrets.isEmpty() || secrets.stream().anyMatch(String::isEmpty)) {
      throw new IllegalArgumentException(
          "GitHub's signature needs at least one secret, none of them empty, had "
              + secrets.size());
    }
    return new GitHubSignature(secrets.stream().map(GitHubSignature::keyOf).toList());
  }

  /** Returns the header that GitHub would send. */
  public static String sign(String secret, byte[] body) {
    return PREFIX + HexFormat.of().formatHex(mac(keyOf(secret), body));
  }

  /** Returns the header that GitHub would send with the first of the secrets. */
  public String sign(byte[] body) {
    return PREFIX + HexFormat.of().formatHex(mac(keys.getFirst(), body));
  }

  /** Returns whether the header is a signature of the body, in constant time for wrong headers. */
  public boolean verify(byte[] body, String header) {
    if (!FORM.matcher(header).matches()) {
      return false;
    }
    byte[] given =
        HexFormat.of().parseHex(header.substring(PREFIX.length()).toLowerCase(Locale.ROOT));
    boolean known = false;
    for (var key : keys) {
      // No early exit: the time must not tell which secret fits.
      known |= MessageDigest.isEqual(mac(key, body), given);
    }
    return known;
  }

  @Override
  public String toString() {
    return "GitHubSignature with " + keys.size() + " secret" + (keys.size() == 1 ? "" : "s");
  }

  private static SecretKeySpec keyOf(String secret) {
    return new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256");
  }

  private static byte[] mac(SecretKeySpec key, byte[] body) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      return mac.doFinal(body);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("Every Java platform has HmacSHA256", e);
    }
  }
}
