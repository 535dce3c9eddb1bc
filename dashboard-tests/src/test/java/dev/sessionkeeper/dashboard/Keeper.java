package dev.sessionkeeper.dashboard;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** A server with a database of its own, and what tests put into it. */
final class Keeper implements AutoCloseable {
  static final String HOSTILE = "\"><script>document.title='owned'</script>";

  private final EmbeddedPostgres database;
  private final KeeperServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private volatile String yaml;
  private volatile String key = "";

  private Keeper(String yaml) throws IOException {
    this.yaml = yaml;
    database = EmbeddedPostgres.start(Files.createTempDirectory("dashboard"));
    server = KeeperServer.start(ReadConfig.from(sources()), this::sources, TimeSource.system());
  }

  static Keeper start(String yaml) {
    try {
      return new Keeper(yaml);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private ConfigSources sources() {
    return new ConfigSources(
        "test",
        yaml,
        Path.of("").toAbsolutePath(),
        Map.of(
            "KEEPER_SERVER_PORT",
            "0",
            "KEEPER_STORE_URL",
            database.jdbcUrl(),
            "KEEPER_STORE_USER",
            database.user(),
            "KEEPER_STORE_PASSWORD",
            database.password()),
        Map.of());
  }

  /** Reads another configuration. */
  void reload(String text) {
    yaml = text;
    server.reload();
  }

  /** Calls the API with this key from now on. */
  Keeper as(String apiKey) {
    key = apiKey;
    return this;
  }

  String url(String path) {
    return server.address().replace("127.0.0.1", "localhost") + path;
  }

  HttpResponse<String> call(String method, String path, String body, String... headers) {
    var request =
        HttpRequest.newBuilder(URI.create(url(path)))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header(
          "Content-Type",
          body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded");
    }
    if (!key.isEmpty()) {
      request.header("Authorization", "Bearer " + key);
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** A call that must succeed. */
  String ok(String method, String path, String body) {
    var response = call(method, path, body);
    if (response.statusCode() >= 300) {
      throw new AssertionError(method + " " + path + ": " + response.body());
    }
    return response.body();
  }

  void queue(String name, String mode, int attempts, String policy) {
    ok(
        "PUT",
        "/queues/" + name,
        "{\"mode\":\"%s\",\"maxDeliveryCount\":%d,\"poisonPolicy\":\"%s\"}"
            .formatted(mode, attempts, policy));
  }

  void send(String queue, String session, String body) {
    ok(
        "POST",
        "/queues/" + queue + "/messages",
        "{\"messages\":[{\"sessionId\":\"%s\",\"body\":%s}]}"
            .formatted(session.replace("\"", "\\\""), body));
  }

  /** Takes the session, fails its first message, and gives it back. */
  void fail(String queue, String session, String error) {
    var id = lease(queue, session);
    var messages = ok("GET", "/queues/" + queue + "/leases/" + id + "/messages?max=1", "");
    ok(
        "POST",
        "/queues/" + queue + "/leases/" + id + "/settlements",
        "{\"settlements\":[{\"sequence\":%s,\"action\":\"retry\",\"delay\":\"PT0S\",\"reason\":\"%s\"}]}"
            .formatted(
                field(messages, "\"sequence\":([0-9]+)"),
                error.replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t")));
    ok("DELETE", "/queues/" + queue + "/leases/" + id, "");
  }

  String lease(String queue, String session) {
    var lease =
        ok(
            "POST",
            "/queues/" + queue + "/leases",
            "{\"sessionId\":\"%s\",\"wait\":\"PT5S\"}".formatted(session.replace("\"", "\\\"")));
    return field(lease, "\"leaseId\":\"([^\"]+)\"");
  }

  static String field(String json, String pattern) {
    var matcher = Pattern.compile(pattern).matcher(json);
    if (!matcher.find()) {
      throw new AssertionError("No " + pattern + " in " + json);
    }
    return matcher.group(1);
  }

  /** Something of everything. */
  void fill() {
    queue("orders", "ORDERED", 2, "PARK_SESSION");
    queue("mails", "ORDERED", 1, "DEAD_LETTER");
    queue("pictures", "UNORDERED", 3, "DEAD_LETTER");
    for (int i = 0; i < 12; i++) {
      var amount = i == 0 ? "\"12,50\"" : "12.50";
      send(
          "orders",
          "cust-42",
          "{\"order\":%d,\"amount\":%s,\"id\":12345678901234567890123}".formatted(i, amount));
    }
    for (int i = 0; i < 20; i++) {
      send("orders", "cust-" + (100 + i), "{\"order\":" + i + "}");
    }
    send("orders", "x".repeat(128), "{\"long\":true}");
    send(
        "orders",
        HOSTILE,
        "{\"text\":\"%s\",\"rtl\":\"\u05e9\u05dc\u05d5\u05dd \u202eabc\"}"
            .formatted(HOSTILE.replace("\"", "\\\"")));
    for (int i = 0; i < 6; i++) {
      send("mails", "user-" + i, "{\"to\":\"user" + i + "@example.com\"}");
    }
    send("mails", "large", "{\"blob\":\"" + "x".repeat((1 << 20) - 100) + "\"}");
    ok("POST", "/queues/pictures/messages", "{\"messages\":[{\"body\":{\"n\":1}}]}");
    var error =
        "java.lang.NumberFormatException: For input string: \"12,50\"\n\tat example.Parse.amount(Parse.java:17)";
    fail("orders", "cust-42", error);
    fail("orders", "cust-42", error);
    fail("orders", HOSTILE, HOSTILE);
    fail("orders", HOSTILE, HOSTILE);
    for (int i = 0; i < 6; i++) {
      fail("mails", "user-" + i, "SMTP 55" + i % 2 + ": mailbox " + i + " is full");
    }
    fail("mails", "large", HOSTILE);
    lease("orders", "cust-103");
    ok(
        "POST",
        "/queues/orders/sessions/actions",
        "{\"sessionId\":\"cust-101\",\"action\":\"pause\",\"reason\":\"the customer asked us\"}");
    ok("POST", "/streams/news/events", "{\"event\":\"hello\",\"data\":{\"n\":1}}");
  }

  /** Ends the database; the server goes on without it. */
  void stopDatabase() {
    database.close();
  }

  @Override
  public void close() {
    server.close();
    database.close();
  }

  static Optional<String> header(HttpResponse<String> response, String name) {
    return response.headers().firstValue(name);
  }
}
