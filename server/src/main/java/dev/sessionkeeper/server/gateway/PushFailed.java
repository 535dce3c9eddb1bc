package dev.sessionkeeper.server.gateway;

/** Reports that a message did not reach its bot and is tried again. */
final class PushFailed extends Exception {
  private static final long serialVersionUID = 1;

  PushFailed(String what) {
    super(what, null, false, false);
  }

  /** Returns the text that operators see as the last error of a message. */
  @Override
  @SuppressWarnings("OverrideThrowableToString") // Operators need not see the name of this class.
  public String toString() {
    return String.valueOf(getMessage());
  }
}
