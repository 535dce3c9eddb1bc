package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.Limits;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerCalls.About;
import dev.sessionkeeper.spi.HeldSession;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A lease at the server. A settlement is one request, and is durable when its stage is returned.
 */
final class ServerHeldSession implements HeldSession {
  private static final int MOST_MESSAGES = Limits.DEFAULT.maxBatch();
  private static final String OCTETS = "application/octet-stream";

  private final ServerCalls calls;
  private final About about;
  private final String path;
  private final SessionId id;
  private final Set<Long> open = ConcurrentHashMap.newKeySet();
  private volatile Lease lease;
  private volatile boolean closed;

  private ServerHeldSession(
      ServerCalls calls, QueueName queue, String path, SessionId id, Lease lease) {
    this.calls = calls;
    this.about = new About(queue, Optional.of(id), lease.epoch());
    this.path = path;
    this.id = id;
    this.lease = lease;
  }

  static ServerHeldSession of(
      ServerCalls calls, QueueName queue, String queuePath, Owner owner, JsonNode granted) {
    var id = SessionId.of(granted.path("sessionId").asString());
    return new ServerHeldSession(
        calls,
        queue,
        queuePath + "/leases/" + KeeperClient.encoded(granted.path("leaseId").asString()),
        id,
        new Lease(
            "session " + id,
            owner,
            granted.path("epoch").asLong(),
            Instant.parse(granted.path("lockedUntil").asString())));
  }

  @Override
  public SessionId id() {
    return id;
  }

  @Override
  public Lease lease() {
    return lease;
  }

  @Override
  public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
    requireOpen();
    // Every answer begins with the open deliveries of the lease, so that a lost answer can be
    // requested again.
    var query =
        Map.of(
            "max",
            "" + Math.min(max + open.size(), MOST_MESSAGES),
            "wait",
            ServerSessions.shortest(wait).toString());
    var answer = calls.waiting(() -> calls.get(about, path + "/messages", query));
    var fresh =
        Wire.messages(answer, "messages").stream()
            .map(Wire.Received::delivery)
            .filter(delivery -> !open.contains(delivery.sequence()))
            .toList();
    fresh.forEach(delivery -> open.add(delivery.sequence()));
    return fresh;
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements) {
    return settle(settlements, Wire.object());
  }

  @Override
  public CompletionStage<Void> settle(List<Settled> settlements, SessionState.Write state) {
    var body = Wire.object().put("state", Base64.getEncoder().encodeToString(state.bytes()));
    if (state.expectedVersion() != SessionState.ANY_VERSION) {
      body.put("stateVersion", state.expectedVersion());
    }
    return settle(settlements, body);
  }

  private CompletionStage<Void> settle(List<Settled> settlements, ObjectNode body) {
    try {
      requireOpen();
      var all = body.putArray("settlements");
      for (var settled : settlements) {
        all.add(Wire.settlement(settled.settlement()).put("sequence", settled.sequence()));
      }
      calls.post(about, path + "/settlements", body);
      forget(settlements);
      return CompletableFuture.completedFuture(null);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Forgets deliveries behind a retried message: the server delivers these messages again. */
  private void forget(List<Settled> settlements) {
    for (var settled : settlements) {
      open.remove(settled.sequence());
      if (settled.settlement() instanceof Settlement.Retry) {
        open.clear();
      }
    }
  }

  @Override
  public Lease renew() {
    requireOpen();
    var renewed = Wire.read(calls.post(about, path + "/renew", Wire.object()));
    lease = lease.until(Instant.parse(renewed.path("lockedUntil").asString()));
    return lease;
  }

  @Override
  public SessionState state() {
    requireOpen();
    var answer = calls.state(about, "GET", path + "/state", Map.of(), Optional.empty());
    long version = version(answer);
    return version == 0 ? SessionState.none() : new SessionState(answer.body(), version);
  }

  @Override
  public SessionState writeState(SessionState.Write write) {
    requireOpen();
    var headers =
        write.expectedVersion() == SessionState.ANY_VERSION
            ? Map.of("Content-Type", OCTETS)
            : Map.of("Content-Type", OCTETS, "If-Match", "\"" + write.expectedVersion() + "\"");
    var answer = calls.state(about, "PUT", path + "/state", headers, Optional.of(write.bytes()));
    return new SessionState(write.bytes(), version(answer));
  }

  private static long version(KeeperClient.RawAnswer answer) {
    return Long.parseLong(answer.etag().orElse("\"0\"").replace("\"", ""));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      calls.delete(about, path);
    } catch (KeeperException.LockLost e) {
      // Another owner has the session already, so there is nothing to release.
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new KeeperException.LockLost("session " + id, lease.epoch());
    }
  }
}
