package dev.sessionkeeper.client;

import dev.sessionkeeper.QueueSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The calls of one queue. */
public final class QueueClient {
  private final KeeperClient client;
  private final String name;
  private final String path;

  QueueClient(KeeperClient client, String name) {
    this.client = client;
    this.name = name;
    this.path = "/queues/" + KeeperClient.encoded(name);
  }

  /** Creates the queue, or changes its settings. */
  public void declare(QueueSettings settings) {
    client.put(path, KeeperClient.json().valueToTree(settings.members()));
  }

  /** Returns the queue's settings and numbers, as the server sends them. */
  public JsonNode describe() {
    return client.get(path, Map.of());
  }

  /** Deletes the queue with its messages, dead letters and session state. */
  public void delete() {
    client.delete(path + "?confirm=" + KeeperClient.encoded(name));
  }

  /** Deletes all messages; dead letters stay. */
  public JsonNode purge() {
    return purge("messages");
  }

  /** Deletes all dead letters; waiting messages stay. */
  public JsonNode purgeDeadLetters() {
    return purge("deadLetters");
  }

  private JsonNode purge(String part) {
    return client.post(path + "/purge", object().put("confirm", name).put("part", part));
  }

  /** Sends all messages or none. */
  public List<Sent> send(List<Outgoing> messages) {
    var body = object();
    var array = body.putArray("messages");
    messages.forEach(message -> array.add(message.toJson()));
    var sent = new ArrayList<Sent>();
    for (var each : client.post(path + "/messages", body).path("messages")) {
      sent.add(
          new Sent(
              each.path("messageId").asString(),
              each.path("sequence").asLong(),
              each.path("duplicate").asBoolean()));
    }
    return sent;
  }

  /** Locks the session that has waited longest; empty if none had work in time. */
  public Optional<LeaseClient> acceptNext(String owner, Duration wait) {
    var body = object();
    body.put("owner", owner);
    body.put("wait", wait.toString());
    return lease(body);
  }

  /**
   * Locks this session; empty if it has no work.
   *
   * @throws ProblemException {@code session-locked} if another owner holds it
   */
  public Optional<LeaseClient> accept(String session, String owner, Duration wait) {
    var body = object();
    body.put("sessionId", session);
    body.put("owner", owner);
    body.put("wait", wait.toString());
    return lease(body);
  }

  /** Lists sessions with work, an owner or a reason to be set aside. */
  public JsonNode sessions(Map<String, String> query) {
    return client.get(path + "/sessions", query);
  }

  /** Applies an action: pause, resume, park, release, deadLetterHead or deadLetterAll. */
  public JsonNode act(String session, String action, String reason) {
    var body = object();
    body.put("sessionId", session);
    body.put("action", action);
    body.put("reason", reason);
    return client.post(path + "/sessions/actions", body);
  }

  /**
   * Resumes sessions of a status, a bounded number per call.
   *
   * @param status parked, paused or waiting
   * @return how many were {@code affected}, and whether there are {@code more}
   */
  public JsonNode resumeAll(String status, String reason) {
    var body = object();
    body.put("all", true);
    body.put("action", "resume");
    body.put("status", status);
    body.put("reason", reason);
    return client.post(path + "/sessions/actions", body);
  }

  /** Returns one dead letter with its body and last error. */
  public JsonNode deadLetter(String id) {
    return client.get(path + "/dead-letters/" + KeeperClient.encoded(id), Map.of());
  }

  /** Deletes a dead letter. */
  public void discard(String id) {
    client.delete(path + "/dead-letters/" + KeeperClient.encoded(id));
  }

  public JsonNode deadLetters(Map<String, String> query) {
    return client.get(path + "/dead-letters", query);
  }

  /** Replays dead letters, selected by {@code sessionId}, {@code messageIds} or {@code all}. */
  public JsonNode replay(ObjectNode selection) {
    return client.post(path + "/dead-letters/replay", selection);
  }

  private Optional<LeaseClient> lease(ObjectNode body) {
    var granted = client.post(path + "/leases", body);
    return granted.isMissingNode()
        ? Optional.empty()
        : Optional.of(LeaseClient.of(client, path, granted));
  }

  static ObjectNode object() {
    return KeeperClient.json().createObjectNode();
  }

  /**
   * The result of sending one message.
   *
   * @param duplicate whether the queue knew the message id, so that nothing was stored
   */
  public record Sent(String messageId, long sequence, boolean duplicate) {}

  /** A message to send: text, in a session. */
  public record Outgoing(
      Optional<String> messageId,
      Optional<String> sessionId,
      JsonNode body,
      Map<String, String> properties) {
    public Outgoing {
      properties = Map.copyOf(properties);
    }

    public static Outgoing text(String session, String text) {
      return new Outgoing(
          Optional.empty(),
          Optional.of(session),
          KeeperClient.json().getNodeFactory().stringNode(text),
          Map.of());
    }

    public Outgoing withId(String id) {
      return new Outgoing(Optional.of(id), sessionId, body, properties);
    }

    ObjectNode toJson() {
      var json = object();
      messageId.ifPresent(id -> json.put("messageId", id));
      sessionId.ifPresent(id -> json.put("sessionId", id));
      json.set("body", body);
      if (!properties.isEmpty()) {
        var all = json.putObject("properties");
        properties.forEach(all::put);
      }
      return json;
    }
  }
}
