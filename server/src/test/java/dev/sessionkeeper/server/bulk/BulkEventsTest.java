package dev.sessionkeeper.server.bulk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.server.Serve;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.security.ApiKeys;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Replays of GitHub events in the background: progress, stop, and a process that is killed. */
class BulkEventsTest {
  private static final String SECRET = "It's a Secret to Everybody";
  private static final String YAML =
      """
      jobs: { lease: 2s, poll: 100ms }
      github: { secrets: ["%s"] }
      bots:
        - { name: one, events: ["*"], ordering_scope: entity }
        - { name: two, events: ["*"], ordering_scope: entity }
      """
          .formatted(SECRET);

  /** A step takes 100 events: the first step those of one session, the second the others. */
  private static final int FIRST_STEP = 100;

  private static final int ALL = 130;
  private static final String FILTER = "{\"bot\":\"one\",\"repository\":\"acme/app\"}";

  private final TestDatabase database = TestDatabase.create();

  private TestServer start(String more) {
    return TestServer.start(YAML + more, database.environment());
  }

  private static void deliver(TestServer server, String repository, int session) {
    var id = UUID.randomUUID().toString();
    var body =
        """
        {"action":"opened","number":%d,"delivery":"%s","pull_request":{"number":%d},\
        "repository":{"id":42,"name":"app","full_name":"%s","owner":{"login":"acme"}}}\
        """
            .formatted(session, id, session, repository);
    var reply =
        server.send(
            "POST",
            "/webhooks/github",
            Optional.of(body),
            "X-GitHub-Event",
            "pull_request",
            "X-GitHub-Delivery",
            id,
            "X-Hub-Signature-256",
            GitHubSignature.sign(SECRET, body.getBytes(UTF_8)));
    assertThat(reply.status()).as(reply.body()).isLessThan(300);
  }

  private static void deliverAll(TestServer server) {
    for (int i = 0; i < ALL; i++) {
      deliver(server, "acme/app", i < FIRST_STEP ? 1 : 2);
    }
  }

  private static String dryRun(String filter) {
    return "{\"act\":\"replayEvents\",\"filter\":%s,\"dryRun\":true}".formatted(filter);
  }

  private static String wish(String filter, JsonNode counted) {
    return "{\"act\":\"replayEvents\",\"filter\":%s,\"token\":\"%s\",\"reason\":\"one was broken\"}"
        .formatted(filter, counted.path("token").asString());
  }

  private static JsonNode count(TestServer server, String filter) {
    var reply = server.post("/bulk", dryRun(filter));
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return reply.json();
  }

  private static String begin(TestServer server, String filter, JsonNode counted) {
    var reply = server.post("/bulk", wish(filter, counted));
    assertThat(reply.status()).as(reply.body()).isEqualTo(201);
    return "/bulk/" + reply.json().path("id").asString();
  }

  private static JsonNode ended(TestServer server, String run) {
    await().until(() -> !server.get(run).json().path("state").asString().equals("running"));
    return server.get(run).json();
  }

  private static int depth(TestServer server, String queue) {
    return server.get("/queues/" + queue).json().path("depth").asInt();
  }

  /** Locks the session of the second step, so that the step has to wait. */
  private static void holdUp(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (var statement =
        connection.prepareStatement(
            "SELECT pg_advisory_xact_lock(hashtextextended('one/acme/app/pull_request/2', 6))")) {
      statement.execute();
    }
  }

  @Test
  void theEventsOfAFilterAreCountedAndSentAgainToTheirBot() {
    try (var server = start("")) {
      for (int session : new int[] {1, 2, 2}) {
        deliver(server, "acme/app", session);
      }
      deliver(server, "acme/other", 1);
      var counted = count(server, FILTER);
      assertThat(counted.path("count").asInt()).isEqualTo(3);
      assertThat(counted.path("samples").get(0).asString())
          .contains("pull_request.opened of acme/app");
      assertThat(depth(server, "one")).as("nothing is sent yet").isEqualTo(4);
      deliver(server, "acme/app", 3);

      var run = ended(server, begin(server, FILTER, counted));
      assertThat(run.path("state").asString()).isEqualTo("finished");
      assertThat(run.path("total").asInt()).isEqualTo(3);
      assertThat(run.path("done").asInt()).isEqualTo(3);
      assertThat(run.path("changed").asInt()).isEqualTo(3);
      assertThat(run.path("queue").asString()).isEqualTo("one");
      assertThat(depth(server, "one")).as("not the event that came later").isEqualTo(5 + 3);
      assertThat(depth(server, "two")).as("the other bot gets nothing").isEqualTo(5);
      assertThat(server.get("/audit?target=bulk/" + run.path("id").asString()).body())
          .contains("bulk.replayEvents", "one was broken", "acme/app");
    }
  }

  @Test
  void aRunIsStoppedWithinAStepAndThatStepIsUndone() throws SQLException {
    try (var server = start("")) {
      deliverAll(server);
      var counted = count(server, FILTER);
      try (var connection = database.source().getConnection()) {
        holdUp(connection);
        var run = begin(server, FILTER, counted);
        await().until(() -> server.get(run).json().path("done").asInt() == FIRST_STEP);
        assertThat(server.get(run).json().path("state").asString()).isEqualTo("running");
        assertThat(server.post(run + "/stop", "{}").json().path("state").asString())
            .isEqualTo("stopped");
        connection.rollback();
        // Another run waits behind the delayed step.
        var other = "{\"repository\":\"acme/none\",\"bot\":\"one\"}";
        ended(server, begin(server, other, count(server, other)));
        assertThat(server.get(run).json().path("changed").asInt()).isEqualTo(FIRST_STEP);
        assertThat(depth(server, "one")).isEqualTo(ALL + FIRST_STEP);
        assertThat(server.get("/audit?action=bulk.stop").body())
            .contains("\"target\":\"" + run.substring(1));
      }
    }
  }

  @Test
  void aCallerReplaysOnlyToBotsOfItsQueues() {
    var admin = ApiKeys.generate();
    var ann = ApiKeys.generate();
    var keys =
        """
        security:
          keys:
            - { name: admin, sha256: %s, roles: [admin] }
            - { name: ann, sha256: %s, roles: [read, operate], queues: [one] }
        """
            .formatted(admin.sha256(), ann.sha256());
    try (var server = start(keys)) {
      deliver(server, "acme/app", 1);
      var filter = "{\"repository\":\"acme/app\"}";
      var counted = as(server, ann, "POST", "/bulk", dryRun(filter)).json();
      assertThat(counted.path("count").asInt()).isEqualTo(1);
      assertThat(as(server, admin, "POST", "/bulk", wish(filter, counted)).status())
          .as("the token is ann's")
          .isEqualTo(409);
      assertThat(as(server, ann, "POST", "/bulk", dryRun("{\"bot\":\"two\"}")).status())
          .isEqualTo(400);
      assertThat(as(server, ann, "POST", "/bulk", dryRun("{}")).status()).isEqualTo(400);

      var whole = as(server, admin, "POST", "/bulk", dryRun(filter)).json();
      assertThat(whole.path("count").asInt()).isEqualTo(2);
      var run = as(server, admin, "POST", "/bulk", wish(filter, whole)).json();
      assertThat(run.has("queue")).as("it has two").isFalse();
      var path = "/bulk/" + run.path("id").asString();
      assertThat(as(server, ann, "GET", path, "").status()).isEqualTo(404);
      assertThat(as(server, ann, "POST", path + "/stop", "{}").status()).isEqualTo(404);
      assertThat(as(server, ann, "GET", "/bulk", "").json().path("runs").size()).isZero();
      assertThat(as(server, ann, "POST", "/bulk", wish(filter, counted)).status()).isEqualTo(201);
      assertThat(as(server, ann, "GET", "/bulk", "").json().path("runs").size()).isEqualTo(1);
    }
  }

  private static TestServer.Reply as(
      TestServer server, ApiKeys.Generated key, String method, String path, String json) {
    return server.send(
        method,
        path,
        Optional.of(json).filter(text -> !text.isEmpty()),
        "Authorization",
        "Bearer " + key.key());
  }

  @Test
  @Tag("slow")
  void aRunGoesOnElsewhereWhenItsProcessIsKilledAndSendsNothingTwice(@TempDir Path folder)
      throws Exception {
    JsonNode counted;
    try (var server = start("")) {
      deliverAll(server);
    }
    var process = process(folder);
    String run;
    try (var connection = database.source().getConnection()) {
      var address = addressOf(process);
      holdUp(connection);
      counted = call(address, "/bulk", dryRun(FILTER));
      run = "/bulk/" + call(address, "/bulk", wish(FILTER, counted)).path("id").asString();
      await().until(() -> call(address, run, "").path("done").asInt() == FIRST_STEP);
      process.destroyForcibly().waitFor();
      connection.rollback();
    } finally {
      process.destroyForcibly();
    }
    try (var server = start("")) {
      var after = ended(server, run);
      assertThat(after.path("state").asString()).isEqualTo("finished");
      assertThat(after.path("changed").asInt()).isEqualTo(ALL);
      assertThat(depth(server, "one")).as("each was sent once more").isEqualTo(2 * ALL);
    }
  }

  private Process process(Path folder) throws IOException {
    var config = Files.writeString(folder.resolve("keeper.yaml"), YAML);
    var builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                Serve.class.getName(),
                "--config",
                config.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(database.environment());
    builder.environment().put("KEEPER_SERVER_PORT", "0");
    return builder.start();
  }

  private static String addressOf(Process process) throws IOException {
    var lines = process.inputReader();
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains("listens on ")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(rest -> {}));
        return line.substring(line.indexOf("http"));
      }
    }
    throw new AssertionError("The server has ended");
  }

  private static JsonNode call(String address, String path, String body)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(address + path));
    if (!body.isEmpty()) {
      request
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body));
    }
    try (var client = HttpClient.newHttpClient()) {
      return JsonMapper.builder()
          .build()
          .readTree(client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body());
    }
  }
}
