package dev.sessionkeeper.server.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.ShortLocks;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server in this process on a database of its own, with GitHub and a bot as its clients. */
final class GatewayServer implements AutoCloseable {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  static final String SECRET = "It's a Secret to Everybody";
  static final String OLD_SECRET = "the one before";

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final TestDatabase.Fresh database;
  private final HttpClient client = HttpClient.newHttpClient();
  private final KeeperServer server;
  private volatile String bots;

  private GatewayServer(
      TestDatabase.Fresh database,
      String bots,
      Function<Supplier<ConfigSources>, KeeperServer> start) {
    this.database = database;
    this.bots = bots;
    server = start.apply(this::sources);
  }

  /** Starts a server with these bots, as YAML. */
  static GatewayServer start(String bots) {
    return start(TestDatabase.create(), bots);
  }

  private static GatewayServer start(TestDatabase.Fresh database, String bots) {
    return new GatewayServer(
        database,
        bots,
        sources ->
            KeeperServer.start(ReadConfig.from(sources.get()), sources, TimeSource.system()));
  }

  /** Starts a second server on the same database, with the same bots. */
  GatewayServer another() {
    return start(database, bots);
  }

  /** Starts a server with these queues and bots, as YAML, and locks of this length. */
  static GatewayServer startWithLocks(Duration lock, String queuesAndBots) {
    return new GatewayServer(
        TestDatabase.create(), queuesAndBots, sources -> ShortLocks.start(sources, lock));
  }

  private ConfigSources sources() {
    return new ConfigSources(
        "keeper.yaml",
        "github: { secrets: [\"env:HOOK\", \"env:OLD_HOOK\"] }\n" + bots,
        Path.of("").toAbsolutePath(),
        Map.of(
            "HOOK",
            SECRET,
            "OLD_HOOK",
            OLD_SECRET,
            "KEEPER_STORE_URL",
            database.url(),
            "KEEPER_STORE_USER",
            database.user(),
            "KEEPER_STORE_PASSWORD",
            database.password(),
            "KEEPER_SERVER_PORT",
            "0"),
        Map.of());
  }

  /** Reloads with other bots; the server applies or refuses them. */
  void reload(String newBots) {
    bots = newBots;
    server.reload();
  }

  /** An answer. */
  record Reply(int status, byte[] bytes, HttpResponse<byte[]> response) {
    String text() {
      return new String(bytes, UTF_8);
    }

    JsonNode json() {
      return MAPPER.readTree(bytes);
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }
  }

  Reply get(String path) {
    return send(request(path).GET());
  }

  Reply post(String path, String json) {
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)));
  }

  /** Posts a delivery signed as GitHub would. */
  Reply deliver(String event, String deliveryId, String json) {
    return deliver(event, deliveryId, json.getBytes(UTF_8), "application/json", SECRET);
  }

  Reply deliver(String event, String json) {
    return deliver(event, UUID.randomUUID().toString(), json);
  }

  Reply deliver(String event, String deliveryId, byte[] body, String contentType, String secret) {
    return send(
        request("/webhooks/github")
            .header("Content-Type", contentType)
            .header("X-GitHub-Event", event)
            .header("X-GitHub-Delivery", deliveryId)
            .header("X-Hub-Signature-256", GitHubSignature.sign(secret, body))
            .header("X-GitHub-Hook-ID", "292430182")
            .header("X-GitHub-Hook-Installation-Target-ID", "79929171")
            .header("X-GitHub-Hook-Installation-Target-Type", "repository")
            .header("User-Agent", "GitHub-Hookshot/044aadd")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server.address() + path))
        .timeout(Duration.ofSeconds(60));
  }

  Reply send(HttpRequest.Builder request) {
    try {
      var response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      return new Reply(response.statusCode(), response.body(), response);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Receives and completes all messages in a session of a bot's queue, in order. */
  List<JsonNode> drain(String queue, String session) {
    var lease = post("/queues/" + queue + "/leases", "{\"sessionId\":\"" + session + "\"}").json();
    var id = lease.get("leaseId").asString();
    var all = new ArrayList<JsonNode>();
    while (true) {
      var messages =
          get("/queues/" + queue + "/leases/" + id + "/messages?max=50").json().get("messages");
      if (messages.isEmpty()) {
        send(request("/queues/" + queue + "/leases/" + id).DELETE());
        return all;
      }
      for (var message : messages) {
        all.add(message);
        settle(queue, id, message, "complete");
      }
    }
  }

  /** Returns whether a session has a message. */
  boolean drainable(String queue, String session) {
    return get("/queues/" + queue + "/sessions?limit=1000").text().contains("\"" + session + "\"");
  }

  /** Dead-letters the head of a session. */
  void kill(String queue, String session) {
    var lease = post("/queues/" + queue + "/leases", "{\"sessionId\":\"" + session + "\"}").json();
    var id = lease.get("leaseId").asString();
    var messages = get("/queues/" + queue + "/leases/" + id + "/messages").json().get("messages");
    settle(queue, id, messages.get(0), "deadLetter");
    send(request("/queues/" + queue + "/leases/" + id).DELETE());
  }

  private void settle(String queue, String lease, JsonNode message, String action) {
    var reply =
        post(
            "/queues/" + queue + "/leases/" + lease + "/settlements",
            "{\"settlements\":[{\"sequence\":"
                + message.get("sequence")
                + ",\"action\":\""
                + action
                + "\"}]}");
    if (reply.status() != 200) {
      throw new AssertionError(reply.text());
    }
  }

  /** Returns a number from the database. */
  long count(String sql) {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    server.close();
    client.close();
  }

  /** Returns an event of a pull request. */
  static String pull(String repository, int number, int step) {
    return """
    {"action":"synchronize","number":%d,"step":%d,"pull_request":{"number":%d},\
    "repository":{"id":42,"name":"%s","full_name":"%s","owner":{"login":"%s"}}}\
    """
        .formatted(
            number,
            step,
            number,
            repository.substring(repository.indexOf('/') + 1),
            repository,
            repository.substring(0, repository.indexOf('/')));
  }
}
