package dev.sessionkeeper.server.registry;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sessionkeeper.registry.RegisteredSession;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A registered session as the API shows it.
 *
 * @param status created, existing or upgraded; only in the answer to a PUT
 */
record RegistryItem(
    UUID sessionId,
    UUID userObjectId,
    UUID tenantObjectId,
    UUID capacityId,
    int sessionKind,
    Instant sessionStartUtc,
    Instant sessionEndUtc,
    @JsonProperty("isActive") boolean active,
    Optional<String> status) {

  /** A page of sessions, newest first. */
  record Listing(List<RegistryItem> sessions, Optional<String> nextCursor) {}

  static RegistryItem of(RegisteredSession session) {
    return of(session, Optional.empty());
  }

  static RegistryItem of(RegisteredSession session, String status) {
    return of(session, Optional.of(status));
  }

  private static RegistryItem of(RegisteredSession session, Optional<String> status) {
    return new RegistryItem(
        session.sessionId(),
        session.userObjectId(),
        session.tenantObjectId(),
        session.capacityId(),
        session.kind(),
        session.startedAt(),
        session.endsAt(),
        session.isActive(),
        status);
  }
}
