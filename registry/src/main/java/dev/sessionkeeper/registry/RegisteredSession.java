package dev.sessionkeeper.registry;

import java.time.Instant;
import java.util.UUID;

/**
 * A session of the registry.
 *
 * @param endsAt when it ended, or when it expires
 * @param isActive by the database's clock: neither ended nor expired
 */
public record RegisteredSession(
    UUID sessionId,
    UUID userObjectId,
    UUID tenantObjectId,
    UUID capacityId,
    int kind,
    Instant startedAt,
    Instant endsAt,
    boolean isActive) {}
