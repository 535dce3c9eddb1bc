package dev.sessionkeeper.memory;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A held session, to be broken in one place by a subclass. */
class BreakableSession implements HeldSession {
  final HeldSession inner;

  BreakableSession(HeldSession inner) {
    this.inner = inner;
  }

  @Override
  public SessionId id() {
    return inner.id();
  }

  @Override
  public Lease lease() {
    return inner.lease();
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return inner.receive(max, wait);
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return inner.settle(settlements);
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return inner.settle(settlements, state);
  }

  @Override
  public Lease renew() {
    return inner.renew();
  }

  @Override
  public SessionState state() {
    return inner.state();
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    return inner.writeState(write);
  }

  @Override
  public void close() {
    inner.close();
  }
}
