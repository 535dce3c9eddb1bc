package dev.sessionkeeper.server.security;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.SharedSecret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of all servers of one store. The secret itself signs nothing: each purpose has a key
 * of its own, so that a text signed for one purpose is worthless for another one.
 */
public final class ServerSecret {
  private static final String HMAC = "HmacSHA256";

  private final byte[] root;

  private ServerSecret(byte[] root) {
    this.root = root.clone();
  }

  /** The secret in a database; the first server that asks creates it. */
  public static ServerSecret in(Database database) {
    return new ServerSecret(SharedSecret.of(database));
  }

  /** A secret of this process alone, gone when the process ends. */
  public static ServerSecret ofThisProcess() {
    return new ServerSecret(SharedSecret.random());
  }

  /**
   * A signer with the key of one purpose.
   *
   * @param purpose such as {@code lease}; never a text that a caller chooses
   */
  public SignTexts signing(String purpose) {
    return new SignTexts(hmac(root, purpose.getBytes(StandardCharsets.UTF_8)));
  }

  static byte[] hmac(byte[] key, byte[] text) {
    try {
      var mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac.doFinal(text);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("Every Java platform has HMAC-SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "ServerSecret";
  }
}
