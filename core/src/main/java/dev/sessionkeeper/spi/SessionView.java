package dev.sessionkeeper.spi;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What the inspector shows of a session that has work, an owner or a reason to be set aside.
 *
 * @param headAge how long ago the first waiting message was sent; zero when there is none
 * @param attempts how often the first waiting message was tried
 * @param blockedReason why it is waiting, parked or paused
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
    Optional<Instant> blockedSince) {}
