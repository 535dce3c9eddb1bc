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

/** A server with a database of its own, and the test data in it. */
final class Keeper implements AutoCloseable {
  static final String HOSTILE = "\"><script>document.title='owned'</script>";

  private final EmbeddedPostgres database;
  private volatile KeeperServer server;
  private final HttpClient client = HttpClient.newHttpClient();
  private final int port;
  private volatile String yaml;
  private volatile String key = "";

  private Keeper(String yaml, int port) throws IOException {
    this.yaml = yaml;
    this.port = port;
    database = EmbeddedPostgres.start(Files.createTempDirectory("dashboard"));
    server = serve();
  }

  private KeeperServer serve() {
    return KeeperServer.start(ReadConfig.from(sources()), this::sources, TimeSource.system());
  }

  /** Stops the server; the database stays. */
  void stopServer() {
    server.close();
  }

  /** Starts the server again, on the same port. */
  void startServer() {
    server = serve();
  }

  /** Returns how many requests are being served, including streams of pages. */
  int running() {
    return server.running();
  }

  static Keeper start(String yaml) {
    return start(yaml, 0);
  }

  static Keeper start(String yaml, int port) {
    try {
      return new Keeper(yaml, port);
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
            String.valueOf(port),
            "KEEPER_STORE_URL",
            database.jdbcUrl(),
            "KEEPER_STORE_USER",
            database.user(),
            "KEEPER_STORE_PASSWORD",
            database.password()),
        Map.of());
  }

  /** Reloads another configuration. */
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

  /** Makes a call that must succeed. */
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

  /** Accepts the session, fails its first message, and releases it. */
  void fail(String queue, String session, String error) {
    failFor(queue, session, error, "PT0S");
  }

  /** Fails the first message of the session, which then waits this long for its retry. */
  void failFor(String queue, String session, String error, String delay) {
    var id = lease(queue, session);
    var messages = ok("GET", "/queues/" + queue + "/leases/" + id + "/messages?max=1", "");
    ok(
        "POST",
        "/queues/" + queue + "/leases/" + id + "/settlements",
        "{\"settlements\":[{\"sequence\":%s,\"action\":\"retry\",\"delay\":\"%s\",\"reason\":\"%s\"}]}"
            .formatted(
                field(messages, "\"sequence\":([0-9]+)"),
                delay,
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

  /** Creates some objects of every kind. */
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
        "java.lang.NumberFormatException: For input string: \"12,50\"\n"
            + "\tat example.Parse.amount(Parse.java:17)";
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

  /** The configuration that {@link #fillAll} needs. */
  static final String ALL =
      """
      github: {secrets: ["%s"]}
      bots:
        - {name: reviewer, events: ["pull_request.*"], ordering_scope: entity, max_concurrent_sessions: 10}
        - {name: labeler, events: ["issues.opened"], ordering_scope: repository, max_concurrent_sessions: 4}
      usage: {interval: 5s}
      """
          .formatted("webhook secret");

  /** Fills every screen, including hostile texts. */
  void fillAll() {
    fill();
    for (int i = 1; i <= 6; i++) {
      webhook(
          "pull_request",
          "{\"action\":\"%s\",\"number\":%d,\"pull_request\":{\"number\":%d,\"title\":\"%s\",\"head\":{\"sha\":\"%040d\"}},\"repository\":{\"full_name\":\"acme/app\",\"name\":\"app\",\"owner\":{\"login\":\"acme\"}}}"
              .formatted(
                  i % 3 == 0 ? "opened" : "synchronize",
                  7 + i % 2,
                  7 + i % 2,
                  HOSTILE.replace("\"", "\\\""),
                  i));
    }
    fail("reviewer", "acme/app/pull_request/7", "java.io.IOException: " + HOSTILE);
    for (int i = 1; i <= 3; i++) {
      ok(
          "PUT",
          "/sessions",
          "{\"userObjectId\":\"%08d-0000-4000-8000-000000000001\",\"tenantObjectId\":\"%s\",\"capacityId\":\"00000000-0000-4000-8000-0000000000c1\",\"sessionKind\":%d}"
              .formatted(i, LocalIssuer.TENANT, i));
    }
    var counted =
        ok(
            "POST",
            "/queues/mails/bulk",
            "{\"act\":\"replay\",\"filter\":{\"sessionId\":\"user-5\"},\"dryRun\":true}");
    var run =
        ok(
            "POST",
            "/queues/mails/bulk",
            "{\"act\":\"replay\",\"filter\":{\"sessionId\":\"user-5\"},\"token\":\"%s\",\"reason\":\"%s\"}"
                .formatted(
                    field(counted, "\"token\":\"([^\"]+)\""), HOSTILE.replace("\"", "\\\"")));
    bulkRun = field(run, "\"id\":\"([^\"]+)\"");
    ok(
        "POST",
        "/queues/orders/sessions/actions",
        "{\"sessionId\":\"cust-102\",\"action\":\"pause\",\"reason\":\"%s\"}"
            .formatted(HOSTILE.replace("\"", "\\\"")));
    ok(
        "POST",
        "/streams/news/events",
        "{\"event\":\"%s\",\"data\":{\"text\":\"%s\"}}"
            .formatted(HOSTILE.replace("\"", "\\\""), HOSTILE.replace("\"", "\\\"")));
    eventId = field(ok("GET", "/events?limit=1", ""), "\"eventId\":\"([^\"]+)\"");
    org.awaitility.Awaitility.await()
        .until(() -> ok("GET", "/bulk/" + bulkRun, "").contains("\"state\":\"finished\""));
  }

  /** Sends and handles messages, so that charts have data. */
  void traffic() {
    traffic++;
    for (int i = 0; i < 1 + traffic % 7; i++) {
      ok("POST", "/queues/pictures/messages", "{\"messages\":[{\"body\":{\"n\":1}}]}");
    }
    if (traffic % 3 != 0) {
      send("orders", "cust-" + (200 + traffic), "{\"order\":1}");
      var id = lease("orders", "cust-" + (200 + traffic));
      var path = "/queues/orders/leases/" + id;
      var sequence = field(ok("GET", path + "/messages?max=1", ""), "\"sequence\":([0-9]+)");
      ok(
          "POST",
          path + "/settlements",
          "{\"settlements\":[{\"sequence\":%s,\"action\":\"complete\"}]}".formatted(sequence));
      ok("DELETE", path, "");
    }
  }

  /** Returns the answers of pages that are requested concurrently. */
  Map<String, HttpResponse<String>> callAll(java.util.Collection<String> paths) {
    var answers = new java.util.concurrent.ConcurrentHashMap<String, HttpResponse<String>>();
    try (var threads = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
      paths.forEach(path -> threads.execute(() -> answers.put(path, call("GET", path, ""))));
    }
    org.assertj.core.api.Assertions.assertThat(answers).hasSameSizeAs(paths);
    return answers;
  }

  private int traffic;

  /** The run and the event that {@link #fillAll} created. */
  String bulkRun = "00000000-0000-4000-8000-000000000001";

  String eventId = "00000000-0000-4000-8000-000000000001";

  void webhook(String type, String payload) {
    try {
      var mac = javax.crypto.Mac.getInstance("HmacSHA256");
      mac.init(
          new javax.crypto.spec.SecretKeySpec(
              "webhook secret".getBytes(java.nio.charset.StandardCharsets.UTF_8), "HmacSHA256"));
      var signature =
          java.util.HexFormat.of()
              .formatHex(mac.doFinal(payload.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
      var response =
          call(
              "POST",
              "/webhooks/github",
              payload,
              "X-GitHub-Event",
              type,
              "X-GitHub-Delivery",
              java.util.UUID.randomUUID().toString(),
              "X-Hub-Signature-256",
              "sha256=" + signature);
      if (response.statusCode() >= 300) {
        throw new AssertionError(response.body());
      }
    } catch (java.security.GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /** Stops the database; the server continues without it. */
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
