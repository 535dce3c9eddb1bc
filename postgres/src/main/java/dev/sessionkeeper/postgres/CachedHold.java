package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Lease;

/** How a session without a row is held. */
record CachedHold(Lease lease, boolean isHandedOut) {}
