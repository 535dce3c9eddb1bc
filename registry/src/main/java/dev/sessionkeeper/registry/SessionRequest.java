package dev.sessionkeeper.registry;

import java.util.UUID;

/** A request for a session: tenant, user, capacity and kind. */
public record SessionRequest(UUID userObjectId, UUID tenantObjectId, UUID capacityId, int kind) {}
