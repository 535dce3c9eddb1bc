package dev.sessionkeeper.registry;

import java.util.Optional;
import java.util.UUID;

/** Selects the sessions of a list; an empty field selects all. */
public record SessionFilter(
    Optional<UUID> tenantObjectId,
    Optional<UUID> userObjectId,
    Optional<UUID> capacityId,
    Optional<Boolean> active) {
  public static SessionFilter all() {
    return new SessionFilter(
        Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  public SessionFilter tenant(UUID tenant) {
    return new SessionFilter(Optional.of(tenant), userObjectId, capacityId, active);
  }
}
