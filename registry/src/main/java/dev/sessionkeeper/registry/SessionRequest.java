package dev.sessionkeeper.registry;

import java.util.UUID;

/** Who wants a session of which kind. */
public record SessionRequest(UUID userObjectId, UUID tenantObjectId, UUID capacityId, int kind) {}
