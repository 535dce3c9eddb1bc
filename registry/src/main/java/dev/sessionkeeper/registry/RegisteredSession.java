package dev.sessionkeeper.registry;

import java.time.Instant;
import java.util.UUID;

/**
 * A session of the registry.
 *
 * @param endsAt when it ended, or when it expires
 * @param isActive as the database's clock saw it: not ended and not past its end
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
