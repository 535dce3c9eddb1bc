package dev.sessionkeeper.server.config;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * A secret that never prints itself. A reload compares secrets, in constant time, so it can tell
 * whether one has changed.
 */
public final class Secret {
  private final String value;

  private Secret(String value) {
    this.value = value;
  }

  public static Secret of(String value) {
    return new Secret(value);
  }

  /** Returns the secret. Use it at once, and store it nowhere. */
  public String reveal() {
    return value;
  }

  public byte[] revealBytes() {
    return value.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Secret secret
        && MessageDigest.isEqual(revealBytes(), secret.revealBytes());
  }

  /** Returns the same number for all secrets, so that no hash of one is ever kept or shown. */
  @Override
  public int hashCode() {
    return Secret.class.hashCode();
  }

  @Override
  public String toString() {
    return "***";
  }
}
