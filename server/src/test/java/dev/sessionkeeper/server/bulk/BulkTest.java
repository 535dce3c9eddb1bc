package dev.sessionkeeper.server.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.Serve;
import dev.sessionkeeper.server.ShiftedTime;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.security.ApiKeys;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Bulk acts: the dry run, its token, progress, stop, and a process that is killed meanwhile. */
class BulkTest {
  private static final String YAML = "jobs: {lease: 2s, poll: 100ms}\n";

  private final TestDatabase database = TestDatabase.create();

  private TestServer start() {
    return TestServer.start(YAML, database.environment());
  }

  /** Creates a queue with so many dead letters, one per session. */
  private void letters(TestServer server, int count) {
    assertThat(
            server.put("/queues/orders", "{\"mode\":\"ORDERED\",\"maxDeliveryCount\":3}").status())
        .isLessThan(300);
    var messages = new StringBuilder();
    for (int i = 0; i < count; i++) {
      messages
          .append(i == 0 ? "" : ",")
          .append("{\"sessionId\":\"s-%04d\",\"body\":{\"n\":%d}}".formatted(i, i));
    }
    assertThat(server.post("/queues/orders/messages", "{\"messages\":[" + messages + "]}").status())
        .isLessThan(300);
    for (int i = 0; i < count; i++) {
      var done =
          server.post(
              "/queues/orders/sessions/actions",
              "{\"sessionId\":\"s-%04d\",\"action\":\"deadLetterAll\",\"reason\":\"cannot be parsed\"}"
                  .formatted(i));
      assertThat(done.status()).as(done.body()).isEqualTo(200);
    }
  }

  private static JsonNode count(TestServer server, String act, String filter) {
    var reply =
        server.post(
            "/queues/orders/bulk",
            "{\"act\":\"%s\",\"filter\":%s,\"dryRun\":true}".formatted(act, filter));
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return reply.json();
  }

  private static String wish(String act, String filter, JsonNode counted) {
    return "{\"act\":\"%s\",\"filter\":%s,\"token\":\"%s\",\"reason\":\"fixed in 1.2\"}"
        .formatted(act, filter, counted.path("token").asString());
  }

  private static JsonNode begin(TestServer server, String act, String filter, JsonNode counted) {
    var reply = server.post("/queues/orders/bulk", wish(act, filter, counted));
    assertThat(reply.status()).as(reply.body()).isEqualTo(201);
    return reply.json();
  }

  private static JsonNode ended(TestServer server, JsonNode run) {
    var path = "/bulk/" + run.path("id").asString();
    await().until(() -> !server.get(path).json().path("state").asString().equals("running"));
    return server.get(path).json();
  }

  private static long dead(TestServer server) {
    return server.get("/queues/orders").json().path("dead").asLong();
  }

  @Test
  void aDryRunCountsAndChangesNothing() {
    try (var server = start()) {
      letters(server, 12);
      var counted = count(server, "replay", "{}");
      assertThat(counted.path("count").asInt()).isEqualTo(12);
      assertThat(counted.path("countIsExact").asBoolean()).isTrue();
      assertThat(counted.path("samples").size()).isEqualTo(10);
      assertThat(dead(server)).isEqualTo(12);
      assertThat(server.get("/bulk").json().path("runs").size()).isZero();
    }
  }

  @Test
  void aRunGoesThroughWhatWasCountedAndNotThroughWhatCameLater() {
    try (var server = start()) {
      letters(server, 60);
      var counted = count(server, "replay", "{\"reason\":\"parsed\"}");
      server.post(
          "/queues/orders/messages",
          "{\"messages\":[{\"sessionId\":\"late\",\"body\":{\"n\":1}}]}");
      server.post(
          "/queues/orders/sessions/actions",
          "{\"sessionId\":\"late\",\"action\":\"deadLetterAll\",\"reason\":\"cannot be parsed\"}");
      var run = ended(server, begin(server, "replay", "{\"reason\":\"parsed\"}", counted));
      assertThat(run.path("state").asString()).isEqualTo("finished");
      assertThat(run.path("done").asInt()).isEqualTo(60);
      assertThat(run.path("changed").asInt()).isEqualTo(60);
      assertThat(dead(server)).as("the late one stays").isEqualTo(1);
      assertThat(server.get("/audit?action=bulk.replay").body()).contains("fixed in 1.2");
      var ofSession = server.get("/audit?action=dead-letters.replay&target=orders/s-0007").json();
      assertThat(ofSession.path("entries").size()).as(ofSession.toString()).isEqualTo(1);
      assertThat(ofSession.path("entries").get(0).toString())
          .contains("message ", "fixed in 1.2", "bulk " + run.path("id").asString());
    }
  }

  @Test
  void sessionsThatAreParkedMoveAgainAndEachActIsAudited() {
    try (var server = start()) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      for (var session : List.of("a-1", "a-2", "b-1")) {
        server.post(
            "/queues/orders/messages",
            "{\"messages\":[{\"sessionId\":\"%s\",\"body\":{}}]}".formatted(session));
        server.post(
            "/queues/orders/sessions/actions",
            "{\"sessionId\":\"%s\",\"action\":\"park\",\"reason\":\"x\"}".formatted(session));
      }
      var filter = "{\"status\":\"parked\",\"prefix\":\"a-\"}";
      var counted = count(server, "resume", filter);
      assertThat(counted.path("count").asInt()).isEqualTo(2);
      var run = ended(server, begin(server, "resume", filter, counted));
      assertThat(run.path("changed").asInt()).isEqualTo(2);
      var parked = server.get("/queues/orders/sessions/search?status=parked").json();
      assertThat(parked.path("sessions").size()).isEqualTo(1);
      assertThat(server.get("/audit?target=orders/a-2").body())
          .contains("session.resume", "bulk " + run.path("id").asString());
    }
  }

  @Test
  void theTokenIsOfOneCallerOneActAndOneFilter() {
    var anna = ApiKeys.generate();
    var ben = ApiKeys.generate();
    var keys =
        "security:\n  keys:\n    - {name: anna, sha256: %s, roles: [admin]}\n    - {name: ben, sha256: %s, roles: [admin]}\n"
            .formatted(anna.sha256(), ben.sha256());
    try (var server = TestServer.start(YAML + keys, database.environment())) {
      as(server, anna, "PUT", "/queues/orders", "{\"mode\":\"ORDERED\"}");
      var counted =
          as(
                  server,
                  anna,
                  "POST",
                  "/queues/orders/bulk",
                  "{\"act\":\"replay\",\"filter\":{},\"dryRun\":true}")
              .json();
      assertThat(refused(server, ben, wish("replay", "{}", counted))).isEqualTo(409);
      assertThat(refused(server, anna, wish("discard", "{}", counted))).isEqualTo(409);
      assertThat(refused(server, anna, wish("replay", "{\"reason\":\"x\"}", counted)))
          .isEqualTo(409);
      assertThat(refused(server, anna, wish("replay", "{}", counted))).isEqualTo(201);
    }
  }

  @Test
  void theTokenCountsForFiveMinutes() {
    var time = new ShiftedTime();
    try (var server = TestServer.start(YAML, database.environment(), time)) {
      server.put("/queues/orders", "{\"mode\":\"ORDERED\"}");
      var counted = count(server, "replay", "{}");
      time.shift(Duration.ofMinutes(6));
      assertThat(server.post("/queues/orders/bulk", wish("replay", "{}", counted)).status())
          .isEqualTo(409);
    }
  }

  private static int refused(TestServer server, ApiKeys.Generated key, String wish) {
    return as(server, key, "POST", "/queues/orders/bulk", wish).status();
  }

  private static TestServer.Reply as(
      TestServer server, ApiKeys.Generated key, String method, String path, String json) {
    return server.send(method, path, Optional.of(json), "Authorization", "Bearer " + key.key());
  }

  @Test
  void stopEndsARunAfterItsStepAndWhatIsDoneStaysDone() throws SQLException {
    try (var server = start()) {
      letters(server, 170);
      var counted = count(server, "replay", "{}");
      JsonNode run;
      try (var connection = database.source().getConnection()) {
        holdUp(connection, 60);
        run = begin(server, "replay", "{}", counted);
        var path = "/bulk/" + run.path("id").asString();
        await().until(() -> server.get(path).json().path("done").asInt() == 50);
        assertThat(server.post(path + "/stop", "{}").json().path("state").asString())
            .isEqualTo("stopped");
        connection.rollback();
      }
      // Another run waits behind the delayed step.
      var next =
          ended(
              server,
              begin(
                  server,
                  "discard",
                  "{\"reason\":\"no such\"}",
                  count(server, "discard", "{\"reason\":\"no such\"}")));
      assertThat(next.path("state").asString()).isEqualTo("finished");
      var stopped = server.get("/bulk/" + run.path("id").asString()).json();
      assertThat(stopped.path("state").asString()).isEqualTo("stopped");
      assertThat(dead(server)).as("at most one more step").isBetween(70L, 120L);
      assertThat(server.get("/audit?action=bulk.stop").body()).contains(run.path("id").asString());
    }
  }

  /** Locks one of the dead letters, so that the step that reaches it has to wait. */
  private static void holdUp(Connection connection, int nth) throws SQLException {
    connection.setAutoCommit(false);
    try (var statement =
        connection.prepareStatement(
            "SELECT FROM keeper.dead_letter WHERE id = (SELECT id FROM keeper.dead_letter ORDER BY id"
                + " OFFSET ? LIMIT 1) FOR UPDATE")) {
      statement.setInt(1, nth);
      statement.execute();
    }
  }

  @Test
  @Tag("slow")
  void aRunGoesOnElsewhereWhenItsProcessIsKilled() throws Exception {
    try (var server = start()) {
      letters(server, 170);
    }
    var process = process();
    String id;
    try (var connection = database.source().getConnection()) {
      var address = addressOf(process);
      holdUp(connection, 60);
      var counted =
          call(
              address, "/queues/orders/bulk", "{\"act\":\"replay\",\"filter\":{},\"dryRun\":true}");
      var run = call(address, "/queues/orders/bulk", wish("replay", "{}", counted));
      id = run.path("id").asString();
      await().until(() -> call(address, "/bulk/" + id, "").path("done").asInt() == 50);
      process.destroyForcibly().waitFor();
      connection.rollback();
    } finally {
      process.destroyForcibly();
    }
    try (var server = start()) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> server.get("/bulk/" + id).json().path("state").asString().equals("finished"));
      var run = server.get("/bulk/" + id).json();
      assertThat(run.path("done").asInt()).isEqualTo(170);
      assertThat(dead(server)).isZero();
      assertThat(server.get("/queues/orders").json().path("depth").asInt())
          .as("each came back once")
          .isEqualTo(170);
    }
  }

  private Process process() throws IOException {
    var builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                Serve.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(database.environment());
    builder.environment().put("KEEPER_SERVER_PORT", "0");
    builder.environment().put("KEEPER_JOBS_LEASE", "2s");
    builder.environment().put("KEEPER_JOBS_POLL", "100ms");
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
