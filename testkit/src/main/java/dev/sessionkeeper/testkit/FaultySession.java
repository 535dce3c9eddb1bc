package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A held session of a {@link FaultyProvider}. */
final class FaultySession implements HeldSession {
  private final HeldSession inner;
  private final InjectedFaults mishaps;

  FaultySession(HeldSession inner, InjectedFaults mishaps) {
    this.inner = inner;
    this.mishaps = mishaps;
  }

  @Override
  public SessionId id() {
    return inner.id();
  }

  @Override
  public Duration takenFor(Duration lockDuration) {
    return inner.takenFor(lockDuration);
  }

  @Override
  public Lease lease() {
    return inner.lease();
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    before("receive");
    return inner.receive(max, wait);
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settling(() -> inner.settle(settlements));
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    return settling(() -> inner.settle(settlements, state));
  }

  private CompletionStage<Void> settling(Supplier<CompletionStage<Void>> call) {
    try {
      before("settle");
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    }
    var stage = call.get();
    return mishaps.losesAnswer()
        ? stage.thenRun(
            () -> {
              throw InjectedFaults.lostAnswer("settle");
            })
        : stage;
  }

  @Override
  public Lease renew() {
    before("renew");
    return inner.renew();
  }

  @Override
  public SessionState state() {
    before("state");
    return inner.state();
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    before("writeState");
    return inner.writeState(write);
  }

  @Override
  public void close() {
    inner.close();
  }

  private void before(String call) {
    if (mishaps.losesLock(id())) {
      // The lease is released, so the next owner gets the session at once.
      inner.close();
      throw new KeeperException.LockLost("session " + id(), lease().epoch());
    }
    mishaps.before(call);
  }
}
