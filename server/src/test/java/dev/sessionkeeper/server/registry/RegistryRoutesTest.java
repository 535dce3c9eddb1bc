package dev.sessionkeeper.server.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Registered sessions, usage and jobs over HTTP, on a real database and with bound credentials. */
class RegistryRoutesTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final UUID MINE = UUID.randomUUID();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final TestDatabase DATABASE = TestDatabase.create();
  private static KeeperServer server;

  @BeforeAll
  static void start() throws Exception {
    var environment = new HashMap<>(DATABASE.environment());
    environment.put("KEEPER_SERVER_PORT", "0");
    var yaml =
        """
        usage: { interval: 1s, period: 1h, retention: 30d }
        jobs: { lease: 2s, poll: 100ms }
        security:
          keys:
            - { name: ops, sha256: "%s", roles: [admin] }
            - { name: bound, sha256: "%s", roles: [read, send, operate], tenant: "%s" }
        """
            .formatted(sha256("ops-key"), sha256("bound-key"), MINE);
    var sources =
        new ConfigSources("keeper.yaml", yaml, Path.of("").toAbsolutePath(), environment, Map.of());
    server = KeeperServer.start(ReadConfig.from(sources), () -> sources, TimeSource.system());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void aCredentialOfATenantBeginsAndSeesOnlyItsOwnSessions() throws Exception {
    var own = put("bound-key", MINE, 1);
    assertThat(own.status()).isEqualTo(201);
    var foreign = put("ops-key", UUID.randomUUID(), 1);
    var id = foreign.json().get("sessionId").asString();
    assertThat(put("bound-key", UUID.randomUUID(), 1).status()).isEqualTo(403);
    assertThat(call("bound-key", "GET", "/sessions/" + id, "").status()).isEqualTo(404);
    assertThat(call("bound-key", "DELETE", "/sessions/" + id, "").status()).isEqualTo(404);
    assertThat(call("bound-key", "POST", "/sessions/" + id + "/renew", "").status()).isEqualTo(404);
    var tenant = foreign.json().get("tenantObjectId").asString();
    for (var path : new String[] {"/sessions", "/usages", "/usages/batches", "/usages/proof"}) {
      assertThat(call("bound-key", "GET", path, "").body())
          .doesNotContain(tenant)
          .doesNotContain(id);
      assertThat(call("bound-key", "GET", path + "?tenantObjectId=" + tenant, "").body())
          .doesNotContain(id);
    }
    assertThat(call("bound-key", "GET", "/jobs", "").status()).isEqualTo(403);
    assertThat(call("ops-key", "GET", "/sessions/" + id, "").status()).isEqualTo(200);
  }

  @Test
  void aThousandCallersOfOneKeyGetOneSessionAndNoError() throws Exception {
    var user = UUID.randomUUID();
    var body =
        """
        {"userObjectId":"%s","tenantObjectId":"%s","capacityId":"%s","sessionKind":2}
        """
            .formatted(user, UUID.randomUUID(), UUID.randomUUID());
    var answers = new ArrayList<Future<Reply>>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 1000; i++) {
        answers.add(threads.submit(() -> call("ops-key", "PUT", "/sessions", body)));
      }
    }
    var sessions = new HashSet<String>();
    int created = 0;
    for (var answer : answers) {
      assertThat(answer.get().status()).isIn(200, 201);
      created += answer.get().status() == 201 ? 1 : 0;
      sessions.add(answer.get().json().get("sessionId").asString());
    }
    assertThat(created).isEqualTo(1);
    assertThat(sessions).hasSize(1);
    assertThat(
            count("SELECT count(*) FROM keeper.registered_session WHERE user_id = '" + user + "'"))
        .isEqualTo(1);
  }

  @Test
  void usageIsMeteredShownAndProven() throws Exception {
    var session = put("ops-key", UUID.randomUUID(), 2).json();
    var tenant = session.get("tenantObjectId").asString();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                !call("ops-key", "GET", "/usages?tenantObjectId=" + tenant, "")
                    .json()
                    .get("usages")
                    .isEmpty());
    var row =
        call("ops-key", "GET", "/usages?tenantObjectId=" + tenant, "").json().get("usages").get(0);
    assertThat(row.get("sessionId").asString()).isEqualTo(session.get("sessionId").asString());
    assertThat(row.get("from").asString()).isEqualTo(session.get("sessionStartUtc").asString());
    var proof =
        call("ops-key", "GET", "/usages/proof?tenantObjectId=" + tenant, "")
            .json()
            .get("tenants")
            .get(0);
    assertThat(proof.get("differences").get("ledger").decimalValue()).isZero();
    assertThat(proof.get("pending").decimalValue()).isPositive();
    var corrected =
        call(
            "ops-key",
            "POST",
            "/usages/corrections",
            "{\"recordId\":\""
                + row.get("recordId").asString()
                + "\",\"factor\":0,\"reason\":\"waived\"}");
    assertThat(corrected.status()).isEqualTo(201);
    assertThat(corrected.json().get("usages").size()).isEqualTo(2);
    var again =
        call("ops-key", "GET", "/usages/proof?tenantObjectId=" + tenant, "")
            .json()
            .get("tenants")
            .get(0);
    assertThat(again.get("differences").get("ledger").decimalValue()).isZero();
    assertThat(again.get("corrections").decimalValue()).isNegative();
  }

  @Test
  void jobsAreShownRunPausedAndResumed() throws Exception {
    assertThat(call("ops-key", "GET", "/jobs", "").json().get("jobs").size())
        .isGreaterThanOrEqualTo(5);
    assertThat(
            call("ops-key", "POST", "/jobs/session-expiry/pause", "")
                .json()
                .get("paused")
                .asBoolean())
        .isTrue();
    assertThat(call("ops-key", "POST", "/jobs/session-expiry/run", "").status()).isEqualTo(200);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                call("ops-key", "GET", "/jobs/session-expiry", "")
                    .json()
                    .get("history")
                    .valueStream()
                    .anyMatch(run -> run.get("outcome").asString().equals("completed")));
    assertThat(
            call("ops-key", "POST", "/jobs/session-expiry/resume", "")
                .json()
                .get("paused")
                .asBoolean())
        .isFalse();
    assertThat(call("ops-key", "POST", "/jobs/unknown/run", "").status()).isEqualTo(404);
  }

  @Test
  void cleaningUpIsAJobAndSaysWhatItDid() throws Exception {
    var old = put("ops-key", UUID.randomUUID(), 1).json().get("sessionId").asString();
    execute("UPDATE keeper.stream_outbox SET at = at - interval '8 days'");
    awaitEvent(old);
    execute("UPDATE keeper.stream_event SET at = at - interval '8 days'");
    for (var job :
        new String[] {
          "event-retention", "dead-letter-retention", "github-retention", "usage-retention"
        }) {
      assertThat(call("ops-key", "POST", "/jobs/" + job + "/run", "").status()).isEqualTo(200);
    }
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> progress("event-retention").matches("[1-9][0-9]* events forgotten"));
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> progress("dead-letter-retention").matches("[0-9]+ dead letters forgotten"));
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> progress("github-retention").matches("[0-9]+ events of GitHub forgotten"));
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> progress("usage-retention").matches("[0-9]+ delivered batches forgotten"));
    assertThat(count("SELECT count(*) FROM keeper.stream_event WHERE data LIKE '%" + old + "%'"))
        .isZero();
  }

  @Test
  void deadLettersGoWhenTheirTimeIsOver() throws Exception {
    call("ops-key", "PUT", "/queues/letters", "{\"mode\":\"ORDERED\"}");
    for (int i = 0; i < 3; i++) {
      execute(
          """
          INSERT INTO keeper.dead_letter (queue, seq, session, message_id, form, content_type, body, attempts, replays,
                 reason, last_error, enqueued_at, dead_at)
          SELECT id, 1, 's', 'm', 0, 'text/plain', '', 1, 0, 'test', '', now(), now() - interval '%d days'
            FROM keeper.queue WHERE name = 'letters'
          """
              .formatted(i * 89));
    }
    call("ops-key", "POST", "/jobs/dead-letter-retention/run", "");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> count("SELECT count(*) FROM keeper.dead_letter") == 2);
  }

  @Test
  void theLastUseOfACredentialIsShown() throws Exception {
    call("bound-key", "GET", "/sessions", "");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                call("ops-key", "GET", "/credentials", "")
                    .json()
                    .get("credentials")
                    .valueStream()
                    .map(credential -> credential.get("name").asString())
                    .toList()
                    .equals(List.of("bound", "ops")));
    var seen = call("ops-key", "GET", "/credentials", "").json().get("credentials").get(0);
    assertThat(Instant.parse(seen.get("lastSeenAt").asString()))
        .isAfter(Instant.now().minusSeconds(60));
    assertThat(call("bound-key", "GET", "/credentials", "").status()).isEqualTo(403);
    assertThat(call("ops-key", "GET", "/metrics", "").body())
        .contains("keeper_persistence_events_coalesced_total{writer=\"last-seen\"}")
        .contains("keeper_persistence_queue_depth{writer=\"cursors\"}");
  }

  private static String progress(String job) throws Exception {
    return call("ops-key", "GET", "/jobs/" + job, "")
        .json()
        .get("history")
        .valueStream()
        .filter(run -> run.has("progress") && !run.get("progress").isNull())
        .map(run -> run.get("progress").asString())
        .findFirst()
        .orElse("");
  }

  private static void awaitEvent(String session) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                count(
                        "SELECT count(*) FROM keeper.stream_event WHERE data LIKE '%"
                            + session
                            + "%'")
                    == 1);
  }

  private static void execute(String sql) throws SQLException {
    try (var connection = DATABASE.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long count(String sql) throws SQLException {
    try (var connection = DATABASE.source().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  @Test
  void whatHappensIsCounted() throws Exception {
    put("ops-key", UUID.randomUUID(), 3);
    var metrics = call("ops-key", "GET", "/metrics", "").body();
    assertThat(metrics)
        .contains("keeper_registered_sessions_total{change=\"created\",kind=\"3\"}")
        .contains("keeper_registered_sessions_active{kind=\"3\"}")
        .contains("keeper_fence_rejections_total")
        .contains("keeper_stale_leases_taken_over_total")
        .contains("keeper_usage_emission_failures_total");
  }

  private static Reply put(String key, UUID tenant, int kind) throws Exception {
    return call(
        key,
        "PUT",
        "/sessions",
        "{\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\",\"sessionKind\":%d}"
            .formatted(UUID.randomUUID(), tenant, UUID.randomUUID(), kind));
  }

  private static Reply call(String key, String method, String path, String body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(30))
            .header("Authorization", "Bearer " + key)
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    var response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    return new Reply(response.statusCode(), response.body());
  }

  private static String sha256(String key) throws Exception {
    var digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest);
  }

  private record Reply(int status, String body) {
    JsonNode json() {
      return JSON.readTree(body);
    }
  }
}
