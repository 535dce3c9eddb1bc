package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.Lease;

/** How a session without a row is held. */
public record CachedHold(Lease lease, boolean isHandedOut) {}
