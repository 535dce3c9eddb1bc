package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Instant;

/** The context of a message of an unordered queue: a session of its own, without state. */
record LoneContext(MessageHold hold, String provider) implements SessionContext {

  @Override
  public SessionId id() {
    return hold.id();
  }

  @Override
  public long epoch() {
    return hold.epoch();
  }

  @Override
  public boolean isLockHeld() {
    return hold.isHeld();
  }

  @Override
  public Instant lockedUntil() {
    return hold.lockedUntil();
  }

  @Override
  public SessionState state() {
    throw noState();
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    throw noState();
  }

  @Override
  public void writeStateOnSettle(SessionState.Write write) {
    throw noState();
  }

  /** There is nothing to release: the session ends with its message. */
  @Override
  public void releaseSession() {}

  private KeeperException.NotSupported noState() {
    return new KeeperException.NotSupported(
        provider, "keep state for a message of an unordered queue");
  }
}
