package dev.sessionkeeper;

import java.util.Arrays;

/** A session's memory: bytes with a version. Version 0 means that nothing was ever written. */
public record SessionState(byte[] bytes, long version) {
  /** How large a state may be. */
  public static final int MAX_BYTES = 256 * 1024;

  /** For a write that replaces whatever version is there. */
  public static final long ANY_VERSION = -1;

  private static final SessionState NONE = new SessionState(new byte[0], 0);

  /** Nothing written yet. */
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
