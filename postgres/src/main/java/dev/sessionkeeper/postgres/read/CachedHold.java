package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.Lease;

/** The lease of a session that is held without a row. */
public record CachedHold(Lease lease, boolean isHandedOut) {}
