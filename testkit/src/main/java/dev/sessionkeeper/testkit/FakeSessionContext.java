package dev.sessionkeeper.testkit;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.processor.SessionContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A held session to test a handler, without queue and processor. For one thread.
 *
 * <p>A state that is to be written with the settlement is in {@link #pendingWrite()} until {@link
 * #settle()} applies it, as a processor would.
 */
public final class FakeSessionContext implements SessionContext {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private final SessionId id;
  private final long epoch;
  private SessionState state = SessionState.none();
  private SessionState.@Nullable Write pending;
  private Instant lockedUntil = BEGIN.plus(Duration.ofMinutes(1));
  private boolean held = true;
  private boolean released;

  private FakeSessionContext(SessionId id, long epoch) {
    this.id = id;
    this.epoch = epoch;
  }

  /** Returns a held session in its first epoch, without state. */
  public static FakeSessionContext of(String session) {
    return new FakeSessionContext(SessionId.of(session), 1);
  }

  /** Returns the same session in another epoch, with its state. */
  public FakeSessionContext inEpoch(long newEpoch) {
    var next = new FakeSessionContext(id, newEpoch);
    next.state = state;
    return next;
  }

  /** Returns the same session with this state, in its next version. */
  public FakeSessionContext withState(byte[] bytes) {
    state = new SessionState(bytes.clone(), state.version() + 1);
    return this;
  }

  /** Returns the same session with another end of its lease. */
  public FakeSessionContext lockedUntil(Instant end) {
    lockedUntil = end;
    return this;
  }

  /** Loses the lease: from now on every write is refused. */
  public void loseLock() {
    held = false;
  }

  /** Applies the write that the handler left for its settlement. */
  public void settle() {
    if (pending != null) {
      var write = pending;
      pending = null;
      writeState(write);
    }
  }

  /** Returns the write that the handler wants to be applied with its settlement. */
  public Optional<SessionState.Write> pendingWrite() {
    return Optional.ofNullable(pending);
  }

  /** Returns whether the handler released the session. */
  public boolean isReleased() {
    return released;
  }

  @Override
  public SessionId id() {
    return id;
  }

  @Override
  public long epoch() {
    return epoch;
  }

  @Override
  public boolean isLockHeld() {
    return held;
  }

  @Override
  public Instant lockedUntil() {
    return lockedUntil;
  }

  @Override
  public SessionState state() {
    requireHeld();
    return state;
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    requireHeld();
    if (write.expectedVersion() != SessionState.ANY_VERSION
        && write.expectedVersion() != state.version()) {
      throw new KeeperException.StaleState(id, write.expectedVersion(), state.version());
    }
    state = new SessionState(write.bytes(), state.version() + 1);
    return state;
  }

  @Override
  public void writeStateOnSettle(SessionState.Write write) {
    pending = write;
  }

  @Override
  public void releaseSession() {
    released = true;
  }

  private void requireHeld() {
    if (!held) {
      throw new KeeperException.LockLost("session " + id, epoch);
    }
  }
}
