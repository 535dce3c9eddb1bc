package dev.sessionkeeper.processor;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.time.Instant;

/** The lease on a session of an ordered queue. */
final class SessionHold extends Hold {
  final HeldSession session;
  private final SessionId id;

  SessionHold(HeldSession session, long askedAt, Duration lock, Jitter jitter) {
    super(askedAt, Pause.nanos(session.takenFor(lock)), jitter);
    this.session = session;
    this.id = session.id();
  }

  @Override
  SessionId id() {
    return id;
  }

  @Override
  long epoch() {
    // Read from the lease each time: with some providers, a receive takes the session anew with a
    // higher epoch.
    return session.lease().epoch();
  }

  @Override
  Instant lockedUntil() {
    return session.lease().until();
  }

  @Override
  void renewLease() {
    session.renew();
  }

  @Override
  void giveBack() {
    session.close();
  }
}
