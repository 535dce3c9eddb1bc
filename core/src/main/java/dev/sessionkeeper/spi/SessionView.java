package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A session that has work, an owner or a reason to be set aside, as operators see it.
 *
 * @param headAge how long ago the first waiting message was sent; zero if there is none
 * @param attempts how often the first waiting message was tried
 * @param blockedReason why the session is waiting, parked or paused
 * @param heldSince when its owner accepted it; empty while it has no owner, or if the store does
 *     not record it
 */
public record SessionView(
    SessionId id,
    SessionStatus status,
    long backlog,
    Duration headAge,
    Optional<Owner> owner,
    long epoch,
    Optional<Instant> lockedUntil,
    int attempts,
    Optional<String> blockedReason,
    Optional<Instant> blockedSince,
    Optional<Instant> heldSince) {

  /** Creates a session of a store that does not record since when it is held. */
  public SessionView(
      SessionId id,
      SessionStatus status,
      long backlog,
      Duration headAge,
      Optional<Owner> owner,
      long epoch,
      Optional<Instant> lockedUntil,
      int attempts,
      Optional<String> blockedReason,
      Optional<Instant> blockedSince) {
    this(
        id,
        status,
        backlog,
        headAge,
        owner,
        epoch,
        lockedUntil,
        attempts,
        blockedReason,
        blockedSince,
        Optional.empty());
  }
}
