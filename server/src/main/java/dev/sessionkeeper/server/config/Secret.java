package dev.sessionkeeper.server.config;

import java.nio.charset.StandardCharsets;

/** A secret that never prints itself. Not a record: equality of secrets is nobody's business. */
public final class Secret {
  private final String value;

  private Secret(String value) {
    this.value = value;
  }

  public static Secret of(String value) {
    return new Secret(value);
  }

  /** The secret. To be used where it is needed, and kept nowhere. */
  public String reveal() {
    return value;
  }

  public byte[] revealBytes() {
    return value.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return "***";
  }
}
