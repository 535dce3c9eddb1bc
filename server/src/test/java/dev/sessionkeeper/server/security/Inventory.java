package dev.sessionkeeper.server.security;

import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Objects of one tenant on a server, so that every call has a real target; new ones for each call,
 * because some calls delete them.
 */
final class Inventory {
  static final String TENANT = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";
  static final String SECRET = "hook";

  /** Texts that an answer to another caller must not contain. */
  static final List<String> MARKS = List.of(TENANT, "mine", "secret-lane", "acme/secret");

  private static final String EVENT =
      "{\"action\":\"opened\",\"issue\":{\"number\":7},\"repository\":{\"full_name\":\"acme/secret\","
          + "\"name\":\"secret\",\"owner\":{\"login\":\"acme\"}},\"sender\":{\"login\":\"ann\"}}";

  private final TestServer server;
  private final ApiKeys.Generated admin;
  private final AtomicInteger count = new AtomicInteger();
  private final Set<String> corrected = new HashSet<>();
  private final Map<String, Target> targets = new HashMap<>();
  private String[] caller = {};

  Inventory(TestServer server, ApiKeys.Generated admin) throws Exception {
    this.server = server;
    this.admin = admin;
    ask("PUT", "/queues/mine", "{\"mode\":\"ORDERED\"}");
    ask("PUT", "/queues/mine-loose", "{\"mode\":\"UNORDERED\"}");
    ask("PUT", "/queues/mine-spare", "{\"mode\":\"ORDERED\"}");
    ask("POST", "/streams/mine/events", "{\"data\":1}");
    registered();
    deliver();
    await().atMost(Duration.ofSeconds(30)).until(() -> !batches().isEmpty());
  }

  private tools.jackson.databind.JsonNode batches() {
    return ask("GET", "/usages/batches", "").json().get("batches");
  }

  /** A call: its path with real names, and its body. */
  record Target(String path, String body) {}

  /**
   * Returns the target of a call; the same one until a call was served, because a refused call
   * leaves its objects unchanged. Leases and receipts are the caller's, if the caller can get one.
   */
  Target target(String method, String template, boolean hasBody, String... headers) {
    if (template.contains("{leaseId}")
        || template.equals("/queues/{queue}/renewals")
        || template.equals("/queues/{queue}/settlements")) {
      caller = headers;
      try {
        return newTarget(method, template, hasBody);
      } finally {
        caller = new String[0];
      }
    }
    return targets.computeIfAbsent(
        method + " " + template, name -> newTarget(method, template, hasBody));
  }

  private Target newTarget(String method, String template, boolean hasBody) {
    if (method.equals("DELETE") && template.equals("/queues/{queue}")) {
      // The queue of the bot and those of other calls must stay.
      ask("PUT", "/queues/mine-spare", "{\"mode\":\"ORDERED\"}");
      return new Target("/queues/mine-spare?confirm=mine-spare", "");
    }
    return new Target(path(template), hasBody ? body(method, template) : "");
  }

  /** Records that the objects of this call may have been deleted. */
  void used(String method, String template) {
    targets.remove(method + " " + template);
  }

  /** Asks as the caller if the caller is served, otherwise as the administrator. */
  private TestServer.Reply askAsCaller(String method, String path, String json) {
    if (caller.length > 0) {
      var reply = server.send(method, path, Optional.of(json), caller);
      if (reply.status() < 300) {
        return reply;
      }
    }
    return ask(method, path, json);
  }

  TestServer.Reply ask(String method, String path, String json) {
    var reply =
        server.send(
            method,
            path,
            Optional.of(json).filter(text -> !text.isEmpty()),
            "Authorization",
            "Bearer " + admin.key());
    if (reply.status() >= 400) {
      throw new AssertionError(method + " " + path + ": " + reply);
    }
    return reply;
  }

  private void deliver() throws Exception {
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET.getBytes(), "HmacSHA256"));
    var signature = "sha256=" + HexFormat.of().formatHex(mac.doFinal(EVENT.getBytes()));
    var reply =
        server.send(
            "POST",
            "/webhooks/github",
            Optional.of(EVENT),
            "X-GitHub-Event",
            "issues",
            "X-GitHub-Delivery",
            UUID.randomUUID().toString(),
            "X-Hub-Signature-256",
            signature);
    if (reply.status() >= 300) {
      throw new AssertionError("" + reply);
    }
  }

  private String lane() {
    return "secret-lane-" + count.incrementAndGet();
  }

  private void send(String lane) {
    ask(
        "POST",
        "/queues/mine/messages",
        "{\"messages\":[{\"sessionId\":\"%s\",\"body\":1}]}".formatted(lane));
  }

  private String lease() {
    var lane = lane();
    send(lane);
    return askAsCaller("POST", "/queues/mine/leases", "{\"sessionId\":\"%s\"}".formatted(lane))
        .json()
        .get("leaseId")
        .asString();
  }

  private String deadLetter() {
    var lane = lane();
    send(lane);
    ask(
        "POST",
        "/queues/mine/sessions/actions",
        "{\"sessionId\":\"%s\",\"action\":\"deadLetterAll\"}".formatted(lane));
    return ask("GET", "/queues/mine/dead-letters?sessionId=" + lane, "")
        .json()
        .get("deadLetters")
        .get(0)
        .get("id")
        .asString();
  }

  private String bulk() {
    var token =
        ask("POST", "/queues/mine/bulk", "{\"act\":\"resume\",\"dryRun\":true}")
            .json()
            .get("token")
            .asString();
    return ask(
            "POST",
            "/queues/mine/bulk",
            "{\"act\":\"resume\",\"token\":\"%s\",\"reason\":\"test\"}".formatted(token))
        .json()
        .get("id")
        .asString();
  }

  private String put() {
    return "{\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\",\"sessionKind\":1}"
        .formatted(UUID.randomUUID(), TENANT, UUID.randomUUID());
  }

  private String registered() {
    return ask("PUT", "/sessions", put()).json().get("sessionId").asString();
  }

  private String receipt() {
    ask("POST", "/queues/mine-loose/messages", "{\"messages\":[{\"body\":1}]}");
    return askAsCaller("POST", "/queues/mine-loose/receive", "{\"wait\":\"PT5S\"}")
        .json()
        .get("messages")
        .get(0)
        .get("receipt")
        .asString();
  }

  private String first(String path, String list, String field) {
    return ask("GET", path, "").json().get(list).get(0).get(field).asString();
  }

  /** Returns the path of an operation with real names of this tenant. */
  String path(String template) {
    var path = template;
    if (template.equals("/queues/{queue}/receive")
        || template.equals("/queues/{queue}/renewals")
        || template.equals("/queues/{queue}/settlements")) {
      path = path.replace("{queue}", "mine-loose");
    }
    path =
        path.replace("{queue}", "mine")
            .replace("{stream}", "mine")
            .replace("{subscriber}", "matrix");
    if (path.contains("{leaseId}")) {
      path = path.replace("{leaseId}", lease());
    }
    if (path.contains("{name}")) {
      path = path.replace("{name}", first("/jobs", "jobs", "name"));
    }
    if (path.contains("{key}")) {
      path = path.replace("{key}", key());
    }
    if (path.contains("{id}")) {
      path = path.replace("{id}", id(template));
    }
    return path.matches("/queues/[^/]+/session(/.*)?") ? path + "?sessionId=secret-lane" : path;
  }

  private String key() {
    return ask("POST", "/keys", newKey()).json().get("name").asString();
  }

  private static String newKey() {
    return "{\"name\":\"%s\",\"roles\":[\"read\"]}".formatted(UUID.randomUUID());
  }

  private String id(String template) {
    return switch (template.split("/", -1)[1]) {
      case "queues" -> deadLetter();
      case "bulk" -> bulk();
      case "sessions" -> registered();
      case "events" -> first("/events", "events", "eventId");
      case "usages" -> first("/usages/batches", "batches", "batchId");
      default -> throw new AssertionError("Say what {id} is in " + template);
    };
  }

  /** Returns a record that was not corrected; metering creates one per second. */
  String record(String template) {
    if (!template.equals("/usages/corrections")) {
      return "";
    }
    return await()
        .atMost(Duration.ofSeconds(30))
        .until(this::uncorrected, Optional::isPresent)
        .orElseThrow();
  }

  private Optional<String> uncorrected() {
    var rows = ask("GET", "/usages?limit=1000", "").json().get("usages");
    var touched = new HashSet<>(corrected);
    rows.forEach(row -> touched.add(row.path("corrects").asString("")));
    for (var row : rows) {
      var id = row.get("recordId").asString();
      if (!row.has("corrects") && !touched.contains(id)) {
        corrected.add(id);
        return Optional.of(id);
      }
    }
    return Optional.empty();
  }

  /** Returns a body that the operation accepts. */
  String body(String method, String template) {
    var given = bodies(template).get(method + " " + template);
    if (given == null) {
      throw new AssertionError("Give an example for " + method + " " + template);
    }
    return given.get();
  }

  private Map<String, Supplier<String>> bodies(String template) {
    return Map.ofEntries(
        entry("POST /events/replay", "{\"type\":\"issues\",\"dryRun\":true}"),
        entry(
            "POST /bulk",
            "{\"act\":\"replayEvents\",\"filter\":{\"type\":\"issues\"},\"dryRun\":true}"),
        entry("POST /queues/{queue}/bulk", "{\"act\":\"resume\",\"dryRun\":true}"),
        entry("PUT /queues/{queue}/dead-letters/{id}/body", "{\"body\":\"2\"}"),
        entry(
            "POST /bots/explain",
            "{\"type\":\"issues\",\"payload\":\"" + EVENT.replace("\"", "\\\"") + "\"}"),
        entry("PUT /queues/{queue}", "{\"mode\":\"ORDERED\"}"),
        entry("POST /queues/{queue}/dead-letters/replay", "{\"all\":true}"),
        entry("POST /queues/{queue}/leases", "{}"),
        entry("POST /queues/{queue}/leases/{leaseId}/settlements", "{\"settlements\":[]}"),
        entry("PUT /queues/{queue}/leases/{leaseId}/state", "bytes"),
        entry(
            "POST /queues/{queue}/messages",
            "{\"messages\":[{\"sessionId\":\"secret-lane\",\"body\":1}]}"),
        entry("POST /queues/{queue}/purge", "{\"confirm\":\"mine\",\"part\":\"deadLetters\"}"),
        entry("POST /queues/{queue}/receive", "{}"),
        Map.entry(
            "POST /queues/{queue}/renewals", () -> "{\"receipt\":\"%s\"}".formatted(receipt())),
        entry(
            "POST /queues/{queue}/sessions/actions",
            "{\"sessionId\":\"secret-lane\",\"action\":\"release\"}"),
        Map.entry(
            "POST /queues/{queue}/settlements",
            () ->
                "{\"settlements\":[{\"receipt\":\"%s\",\"action\":\"complete\"}]}"
                    .formatted(receipt())),
        Map.entry("POST /keys", Inventory::newKey),
        Map.entry("POST /erasures", () -> "{\"userObjectId\":\"%s\"}".formatted(UUID.randomUUID())),
        Map.entry("PUT /sessions", this::put),
        entry("POST /streams/{stream}/events", "{\"data\":1}"),
        entry("POST /streams/{stream}/events/batch", "{\"events\":[{\"data\":1}]}"),
        entry("PUT /streams/{stream}/subscribers/{subscriber}", "{}"),
        entry("POST /streams/{stream}/subscribers/{subscriber}/ack", "{\"lastEventId\":\"1\"}"),
        entry("POST /streams/{stream}/tokens", "{}"),
        entry("POST /queues/{queue}/work", "{\"requestId\":\"matrix\"}"),
        Map.entry(
            "POST /usages/corrections",
            () ->
                "{\"recordId\":\"%s\",\"factor\":0.5,\"reason\":\"test\"}"
                    .formatted(record(template))),
        entry("POST /webhooks/github", EVENT));
  }

  private static Map.Entry<String, Supplier<String>> entry(String call, String body) {
    return Map.entry(call, () -> body);
  }
}
