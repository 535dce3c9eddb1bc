package dev.sessionkeeper.client;

import dev.sessionkeeper.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A session held over HTTP. Every call fails with the problem {@code session-lock-lost} once the
 * lease is lost.
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

  /**
   * Returns the same lease through another client, for example of another server of the same store.
   */
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

  /** Receives the next messages of the session, in order. */
  public List<Received> receive(int max, Duration wait) {
    var answer = client.get(path + "/messages", Map.of("max", "" + max, "wait", wait.toString()));
    var received = new ArrayList<Received>();
    for (var each : answer.path("messages")) {
      received.add(Received.of(each));
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

  /** Releases the session. */
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

  /**
   * A message delivered under this lease.
   *
   * @param payload the body as it was sent: JSON, text or bytes
   */
  public record Received(
      long sequence,
      String messageId,
      Payload payload,
      Map<String, String> properties,
      int attempt,
      Instant enqueuedAt) {
    public Received {
      properties = Map.copyOf(properties);
    }

    static Received of(JsonNode json) {
      var properties = new HashMap<String, String>();
      json.path("properties")
          .properties()
          .forEach(each -> properties.put(each.getKey(), each.getValue().asString("")));
      return new Received(
          json.path("sequence").asLong(),
          json.path("messageId").asString(),
          payload(json),
          properties,
          json.path("attempt").asInt(),
          Instant.parse(json.path("enqueuedAt").asString()));
    }

    private static Payload payload(JsonNode json) {
      var type = json.path("contentType").asString("");
      if (json.has("bodyText")) {
        return Payload.text(json.path("bodyText").asString(), type);
      }
      return json.has("bodyBase64")
          ? Payload.bytes(Base64.getDecoder().decode(json.path("bodyBase64").asString()), type)
          : Payload.json(KeeperClient.json().writeValueAsString(json.path("body")));
    }

    /** Returns the body as JSON; text as a string, other bytes as base64. */
    public JsonNode body() {
      return switch (payload.form()) {
        case JSON -> KeeperClient.json().readTree(payload.unsafeBytes());
        case TEXT -> KeeperClient.json().getNodeFactory().stringNode(payload.asText());
        case BYTES -> KeeperClient.json().getNodeFactory().binaryNode(payload.unsafeBytes());
      };
    }
  }
}
