package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.SessionId;

/** Forgets a hold of this process when its lease has been given back. */
@FunctionalInterface
public interface ForgetHold {
  void forget(SessionId session, long epoch);
}
