package dev.sessionkeeper.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The calls of the session registry, which keeps one active session per user and capacity. */
public final class RegistryClient {
  private final KeeperClient client;

  RegistryClient(KeeperClient client) {
    this.client = client;
  }

  /**
   * Begins a session, or returns the active one. The answer's status is {@code created}, {@code
   * existing} or {@code upgraded}.
   */
  public RegisteredSession put(UUID user, UUID tenant, UUID capacity, int kind) {
    var body = QueueClient.object();
    body.put("userObjectId", user.toString());
    body.put("tenantObjectId", tenant.toString());
    body.put("capacityId", capacity.toString());
    body.put("sessionKind", kind);
    return session(client.put("/sessions", body));
  }

  /** Returns one session, active or not. */
  public RegisteredSession get(UUID id) {
    return session(client.get("/sessions/" + id, Map.of()));
  }

  /** Extends an active session. */
  public RegisteredSession renew(UUID id) {
    return session(client.post("/sessions/" + id + "/renew", QueueClient.object()));
  }

  /** Ends a session and its usage now. */
  public RegisteredSession end(UUID id) {
    return session(client.delete("/sessions/" + id));
  }

  /**
   * Returns a page of sessions, newest first.
   *
   * @param query any of {@code tenantObjectId}, {@code userObjectId}, {@code capacityId}, {@code
   *     active}, {@code limit}, {@code cursor}
   */
  public Listing list(Map<String, String> query) {
    return KeeperClient.read(client.get("/sessions", query), Listing.class);
  }

  private static RegisteredSession session(tools.jackson.databind.JsonNode answer) {
    return KeeperClient.read(answer, RegisteredSession.class);
  }

  /**
   * A registered session.
   *
   * @param status the result of a put; empty in other answers
   */
  public record RegisteredSession(
      UUID sessionId,
      UUID userObjectId,
      UUID tenantObjectId,
      UUID capacityId,
      int sessionKind,
      Instant sessionStartUtc,
      Instant sessionEndUtc,
      boolean isActive,
      Optional<String> status) {}

  /**
   * A page of sessions.
   *
   * @param nextCursor the cursor of the next page; empty on the last one
   */
  public record Listing(List<RegisteredSession> sessions, Optional<String> nextCursor) {}
}
