package dev.sessionkeeper.server.security;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SharedSecret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of all servers of one store. Each purpose has a derived key of its own, so that a text
 * signed for one purpose is invalid for another.
 */
public final class ServerSecret {
  private static final String HMAC = "HmacSHA256";

  private final byte[] root;

  private ServerSecret(byte[] root) {
    this.root = root.clone();
  }

  /** Returns the secret in a database; the first server creates it. */
  public static ServerSecret in(Database database) {
    return new ServerSecret(SharedSecret.of(database));
  }

  /** Returns a secret of this process alone, which ends with the process. */
  public static ServerSecret ofThisProcess() {
    return new ServerSecret(SharedSecret.random());
  }

  /**
   * Returns a signer with the key of one purpose.
   *
   * @param purpose such as {@code lease}; never a text chosen by a caller
   */
  public SignTexts signing(String purpose) {
    return new SignTexts(hmac(root, purpose.getBytes(StandardCharsets.UTF_8)));
  }

  static byte[] hmac(byte[] key, byte[] text) {
    return keyed(key).doFinal(text);
  }

  /** Returns an HMAC with this key. Each use needs a {@link #copy}, because an HMAC has a state. */
  static Mac keyed(byte[] key) {
    try {
      var mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new AssertionError("Every Java platform has HMAC-SHA-256", e);
    }
  }

  /** Copies an HMAC that was not used yet, which costs less than to look one up. */
  static Mac copy(Mac keyed) {
    try {
      return (Mac) keyed.clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError("The platform's HMAC can be copied", e);
    }
  }

  @Override
  public String toString() {
    return "ServerSecret";
  }
}
