package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A held session of a pushed bot. Renewing the lease renews its place. */
record LimitedSession(HeldSession inner, Hold hold, LimitHolds limits) implements HeldSession {
  private static final Logger log = LoggerFactory.getLogger(LimitedSession.class);

  @Override
  public SessionId id() {
    return inner.id();
  }

  @Override
  public Lease lease() {
    return inner.lease();
  }

  @Override
  public Duration takenFor(Duration lockDuration) {
    return inner.takenFor(lockDuration);
  }

  @Override
  public List<Delivery> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return inner.receive(limit, wait);
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    return inner.receive(max, wait);
  }

  @Override
  public List<Delivery> receiveKnown(int max, Duration wait) throws InterruptedException {
    return inner.receiveKnown(max, wait);
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
    var lease = inner.renew();
    limits.renewed(hold);
    return lease;
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
    try {
      inner.close();
    } finally {
      free();
    }
  }

  private void free() {
    try {
      limits.free(hold);
    } catch (KeeperException e) {
      log.warn("The place of session {} is free when its lease ends: {}", id(), e.getMessage());
    }
  }

  @Override
  public boolean mayHaveMore() {
    return inner.mayHaveMore();
  }

  @Override
  public boolean closesBehindSettlements() {
    return inner.closesBehindSettlements();
  }
}
