package dev.sessionkeeper.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A session held over HTTP. Every call fails with the problem {@code session-lock-lost} once the
 * lease is gone.
 */
public final class LeaseClient implements AutoCloseable {
  private final KeeperClient client;
  private final String path;
  private final String sessionId;
  private final long epoch;
  private Instant lockedUntil;

  private LeaseClient(
      KeeperClient client, String path, String sessionId, long epoch, Instant lockedUntil) {
    this.client = client;
    this.path = path;
    this.sessionId = sessionId;
    this.epoch = epoch;
    this.lockedUntil = lockedUntil;
  }

  static LeaseClient of(KeeperClient client, String queuePath, JsonNode granted) {
    return new LeaseClient(
        client,
        queuePath + "/leases/" + KeeperClient.encoded(granted.path("leaseId").asString()),
        granted.path("sessionId").asString(),
        granted.path("epoch").asLong(),
        Instant.parse(granted.path("lockedUntil").asString()));
  }

  /** The same lease through another client, for example of another server of the same store. */
  public LeaseClient through(KeeperClient other) {
    return new LeaseClient(other, path, sessionId, epoch, lockedUntil);
  }

  public String sessionId() {
    return sessionId;
  }

  public long epoch() {
    return epoch;
  }

  public Instant lockedUntil() {
    return lockedUntil;
  }

  /** The next messages of the session, in order. */
  public List<Received> receive(int max, Duration wait) {
    var answer = client.get(path + "/messages", Map.of("max", "" + max, "wait", wait.toString()));
    var received = new ArrayList<Received>();
    for (var each : answer.path("messages")) {
      received.add(
          new Received(
              each.path("sequence").asLong(),
              each.path("messageId").asString(),
              each.path("body"),
              each.path("attempt").asInt()));
    }
    return received;
  }

  public void complete(List<Received> messages) {
    settle(messages.stream().map(each -> settlement(each, "complete")).toList());
  }

  public void retry(Received message, Duration delay, String reason) {
    settle(
        List.of(settlement(message, "retry").put("delay", delay.toString()).put("reason", reason)));
  }

  public void deadLetter(Received message, String reason) {
    settle(List.of(settlement(message, "deadLetter").put("reason", reason)));
  }

  public void renew() {
    var answer = client.post(path + "/renew", QueueClient.object());
    lockedUntil = Instant.parse(answer.path("lockedUntil").asString());
  }

  /** Gives the session back. */
  @Override
  public void close() {
    client.delete(path);
  }

  private void settle(List<ObjectNode> settlements) {
    var body = QueueClient.object();
    var array = body.putArray("settlements");
    settlements.forEach(array::add);
    client.post(path + "/settlements", body);
  }

  private static ObjectNode settlement(Received message, String action) {
    return QueueClient.object().put("sequence", message.sequence()).put("action", action);
  }

  /** A message handed out under this lease. */
  public record Received(long sequence, String messageId, JsonNode body, int attempt) {}
}
