package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import java.time.Instant;

/** A message of an unordered queue as its handler sees it: a lane of its own, without memory. */
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

  /** Nothing to release: the lane ends with its message. */
  @Override
  public void releaseSession() {}

  private KeeperException.NotSupported noState() {
    return new KeeperException.NotSupported(
        provider, "keep state for a message of an unordered queue");
  }
}
