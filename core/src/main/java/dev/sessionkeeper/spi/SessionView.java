package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The inspector's view of a session that has work, an owner or a reason to be set aside.
 *
 * @param headAge how long ago the first waiting message was sent; zero when there is none
 * @param attempts how often the first waiting message was tried
 * @param blockedReason why it is waiting, parked or paused
 * @param heldSince when its owner took it; empty while it is free, and where the store does not
 *     tell
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

  /** A session of a store that does not tell since when it is held. */
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
