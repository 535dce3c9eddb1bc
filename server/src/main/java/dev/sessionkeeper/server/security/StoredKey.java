package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Role;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * An API key as stored: everything but the key itself.
 *
 * @param prefix the beginning of the key, which identifies it in lists and logs
 */
record StoredKey(
    String prefix,
    String name,
    String sha256,
    List<Role> roles,
    Optional<UUID> tenant,
    Optional<List<String>> queues,
    Instant createdAt,
    String createdBy,
    Optional<Instant> expiresAt,
    Optional<Instant> revokedAt) {

  boolean isValidAt(Instant now) {
    return revokedAt.isEmpty() && expiresAt.map(now::isBefore).orElse(true);
  }

  Caller caller() {
    return new Caller(
        name,
        Set.copyOf(roles),
        Reach.of(
            tenant,
            queues.map(
                names ->
                    names.stream().map(QueueName::of).collect(Collectors.toUnmodifiableSet()))));
  }
}
