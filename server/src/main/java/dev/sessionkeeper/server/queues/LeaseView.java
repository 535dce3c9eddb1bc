package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/**
 * A held session.
 *
 * @param state its state as base64; absent if none was ever written
 */
record LeaseView(
    String leaseId,
    String sessionId,
    String owner,
    long epoch,
    Instant lockedUntil,
    Optional<String> state,
    Optional<Long> stateVersion) {

  /** The new end of a lease. */
  record Renewed(Instant lockedUntil) {}

  static LeaseView of(String leaseId, HeldSession held, SessionState state) {
    var lease = held.lease();
    boolean written = state.version() > 0;
    return new LeaseView(
        leaseId,
        held.id().value(),
        lease.owner().name(),
        lease.epoch(),
        lease.until(),
        written ? Optional.of(Base64.getEncoder().encodeToString(state.bytes())) : Optional.empty(),
        written ? Optional.of(state.version()) : Optional.empty());
  }
}
