package dev.sessionkeeper;

import java.util.Arrays;

/**
 * The state that a handler keeps with a session: bytes with a version. Version 0 means that no
 * state was ever written.
 */
public record SessionState(byte[] bytes, long version) {
  /** The most bytes of a state. */
  public static final int MAX_BYTES = 256 * 1024;

  /** Marks a write that replaces any version. */
  public static final long ANY_VERSION = -1;

  private static final SessionState NONE = new SessionState(new byte[0], 0);

  /** Returns the state of a session that has none: no bytes, version 0. */
  public static SessionState none() {
    return NONE;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SessionState that
        && version == that.version
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(version);
  }

  @Override
  public String toString() {
    return "version " + version + ", " + bytes.length + " bytes";
  }

  /**
   * A change of a session's state.
   *
   * @param expectedVersion the version that is replaced, or {@link #ANY_VERSION}
   */
  public record Write(byte[] bytes, long expectedVersion) {
    public Write {
      if (bytes.length > MAX_BYTES) {
        throw new KeeperException.LimitExceeded("maxStateBytes", MAX_BYTES, bytes.length);
      }
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Write that
          && expectedVersion == that.expectedVersion
          && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(expectedVersion);
    }
  }
}
