package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.feature.HoldLimits.Hold;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.SessionSource;
import java.time.Duration;

/** Hands out the sessions of a pushed bot while the bot has free places, over all servers. */
record LimitedSessions(QueueName queue, SessionSource inner, LimitHolds limits)
    implements SessionSource {

  @Override
  public AcceptResult acceptNext(Owner owner, Duration wait) throws InterruptedException {
    if (!limits.awaitRoom(queue, wait)) {
      return new AcceptResult.NoSession();
    }
    return inner.acceptNext(owner, wait) instanceof AcceptResult.Accepted accepted
        ? begin(accepted)
        : new AcceptResult.NoSession();
  }

  /** If another server took the last place meanwhile, the session is released. */
  private AcceptResult begin(AcceptResult.Accepted accepted) {
    var session = accepted.session();
    var hold = new Hold(queue, session.id(), session.lease().epoch());
    boolean begun = false;
    try {
      begun = limits.begin(hold);
    } finally {
      if (!begun) {
        session.close();
      }
    }
    return begun
        ? new AcceptResult.Accepted(new LimitedSession(session, hold, limits))
        : new AcceptResult.NoSession();
  }

  @Override
  public boolean isFull() {
    return limits.isFull(queue);
  }

  @Override
  public boolean hasReadySession() {
    return inner.hasReadySession();
  }
}
