package dev.sessionkeeper.server.gateway;

/** A message did not reach its bot; it is tried again by policy. */
final class PushFailed extends Exception {
  private static final long serialVersionUID = 1;

  PushFailed(String what) {
    super(what, null, false, false);
  }

  /** The text that operators see as the last error of a message. */
  @Override
  @SuppressWarnings("OverrideThrowableToString") // the name of this class says nothing to them
  public String toString() {
    return String.valueOf(getMessage());
  }
}
