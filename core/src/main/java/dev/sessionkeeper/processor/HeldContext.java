package dev.sessionkeeper.processor;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The held session as handlers and hooks see it. One instance per hold, used on the slot's thread.
 */
final class HeldContext implements SessionContext {
  private final SessionHold hold;
  private final LoseLease losses;
  private SessionState.@Nullable Write pending;
  private boolean released;

  HeldContext(SessionHold hold, LoseLease losses) {
    this.hold = hold;
    this.losses = losses;
  }

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
    return whileHeld(hold.session::state);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    return whileHeld(() -> hold.session.writeState(write));
  }

  @Override
  public void writeStateOnSettle(SessionState.Write write) {
    pending = write;
  }

  @Override
  public void releaseSession() {
    released = true;
  }

  boolean isReleased() {
    return released;
  }

  /** Returns and clears the state write that is sent with the settlement of the open message. */
  Optional<SessionState.Write> takePendingWrite() {
    if (pending == null) {
      return Optional.empty();
    }
    var write = Optional.of(pending);
    pending = null;
    return write;
  }

  private SessionState whileHeld(Supplier<SessionState> call) {
    if (!hold.isHeld()) {
      throw hold.lockLost();
    }
    try {
      return call.get();
    } catch (KeeperException.LockLost e) {
      losses.lost(hold, Phase.HANDLE, e);
      throw e;
    }
  }
}
