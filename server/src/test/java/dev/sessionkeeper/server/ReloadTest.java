package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.security.ApiKeys;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A reload applies what it can, and names the keys that need a restart. */
class ReloadTest {
  private final ApiKeys.Generated admin = ApiKeys.generate();

  private String keys(String more) {
    return "security: { keys: [ { name: ops, sha256: %s, roles: [admin] }%s ] }\n"
        .formatted(admin.sha256(), more);
  }

  private static TestServer.Reply reload(TestServer server) {
    return server.post("/admin/reload", "{}");
  }

  private TestServer.Reply reloadAsAdmin(TestServer server) {
    return server.send(
        "POST", "/admin/reload", Optional.of("{}"), "Authorization", "Bearer " + admin.key());
  }

  private static List<String> texts(JsonNode list) {
    var texts = new ArrayList<String>();
    list.forEach(text -> texts.add(text.asString()));
    return texts;
  }

  @Test
  void aReloadNamesWhatItAppliedAndWhatNeedsARestart() {
    try (var server = TestServer.start("streams: { heartbeat: 5s }")) {
      server.rewrite(
          """
          server: { host: localhost, drain_timeout: 5s }
          streams: { heartbeat: 6s, max_readers: 5000 }
          jobs: { lease: 20s, dead_letter_retention: 7d }
          usage: { interval: 2m, endpoint: "https://billing.example/usage" }
          registry: { kinds: { "1": { name: basic, factor: 2 } } }
          """);
      var answer = reload(server).json();
      assertThat(answer.get("reloaded").asBoolean()).isTrue();
      assertThat(texts(answer.get("applied")))
          .containsExactlyInAnyOrder(
              "server.drain_timeout",
              "streams.heartbeat",
              "jobs.dead_letter_retention",
              "usage.endpoint");
      assertThat(texts(answer.get("needsRestart")))
          .containsExactlyInAnyOrder(
              "server.host", "jobs.lease", "usage.interval", "registry.kinds");
    }
  }

  @Test
  void aKeyThatNeedsARestartIsNamedUntilThereWasOne() {
    try (var server = TestServer.start("")) {
      server.rewrite("jobs: { lease: 20s }\nstreams: { max_readers: 7 }");
      assertThat(texts(reload(server).json().get("applied")))
          .containsExactly("streams.max_readers");
      var again = reload(server).json();
      assertThat(texts(again.get("applied"))).isEmpty();
      assertThat(texts(again.get("needsRestart"))).containsExactly("jobs.lease");

      server.rewrite("streams: { max_readers: 7 }");
      assertThat(texts(reload(server).json().get("needsRestart"))).isEmpty();
    }
  }

  @Test
  void aChangedSecretIsNoticedWithoutBeingShown() {
    try (var server =
        TestServer.start(
            "github: { secrets: [\"first-secret\"] }\nstore: { password: first-password }")) {
      server.rewrite(
          "github: { secrets: [\"other-secret\"] }\nstore: { password: other-password }");
      var answer = reload(server);
      assertThat(texts(answer.json().get("applied"))).containsExactly("github.secrets");
      assertThat(texts(answer.json().get("needsRestart"))).containsExactly("store.password");
      assertThat(answer.body()).doesNotContain("other-");
    }
  }

  @Test
  void theLimitsOfStreamsAreInForceAfterAReload() {
    try (var server = TestServer.start("")) {
      assertThat(server.get("/streams/s/events").status()).isEqualTo(200);
      server.rewrite("streams: { max_readers: 1 }");
      reload(server);
      try (var first = OpenStream.of(server, "s", Map.of())) {
        first.awaitOpen();
        org.awaitility.Awaitility.await()
            .until(() -> server.get("/streams/s/events").status() == 503);
      }
    }
  }

  @Test
  void aReloadNeverOpensAClosedServer() {
    try (var server = TestServer.start(keys(""))) {
      server.rewrite("");
      var refused = reloadAsAdmin(server);
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.body()).contains("security names no keys, certificates or jwt", "restart");
      assertThat(server.get("/queues").status()).isEqualTo(401);
      assertThat(server.put("/queues/x", "{\"mode\":\"ORDERED\"}").status()).isEqualTo(401);
    }
  }

  @Test
  void aReloadOfAServerOnTheNetworkIsRefusedAsItsStartWouldBe() {
    try (var server = TestServer.start("server: { host: 0.0.0.0 }\n" + keys(""))) {
      server.rewrite("server: { host: 0.0.0.0 }\n");
      var refused = reloadAsAdmin(server);
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.body())
          .contains("is 0.0.0.0 but security names no keys, certificates or jwt");
      assertThat(server.put("/queues/x", "{\"mode\":\"ORDERED\"}").status()).isEqualTo(401);

      server.rewrite("");
      assertThat(reloadAsAdmin(server).status()).isEqualTo(400);
      assertThat(server.put("/queues/x", "{\"mode\":\"ORDERED\"}").status()).isEqualTo(401);
    }
  }

  @Test
  void losingTheLastAdminIsWarnedOf() {
    try (var server = TestServer.start(keys(""))) {
      server.rewrite(keys("").replace("admin", "read"));
      assertThat(texts(reloadAsAdmin(server).json().get("warnings")))
          .anySatisfy(warning -> assertThat(warning).contains("role admin", "SIGHUP"));
    }
  }

  @Test
  void keysOfAnIdentityProviderThatCannotBeReadLeaveEverythingAsItWas() {
    try (var server = TestServer.start(keys(""))) {
      server.rewrite(
          "security: { jwt: { issuer: i, audience: a, jwks_url: \"http://127.0.0.1:1/keys\" } }");
      assertThat(reloadAsAdmin(server).status()).isEqualTo(400);
      assertThat(reloadAsAdmin(server).body()).contains("security.jwt");
    }
  }

  @Test
  void everyReloadHasAnEntryInTheAuditLog() throws SQLException {
    var database = TestDatabase.create();
    try (var server = TestServer.start(keys(""), database.environment())) {
      server.rewrite(keys("") + "streams: { max_readers: 7 }\njobs: { lease: 20s }\n");
      assertThat(reloadAsAdmin(server).status()).isEqualTo(200);
      server.server().reload();
      assertThat(entries(database))
          .containsExactly(
              "ops config.reload configuration: Applied: streams.max_readers. Needs a restart:"
                  + " jobs.lease.",
              "signal config.reload configuration: Nothing was applied. Needs a restart:"
                  + " jobs.lease.");
    }
  }

  private static List<String> entries(TestDatabase database) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT actor || ' ' || action || ' ' || target || ': ' || reason"
                    + " FROM keeper.audit ORDER BY id")) {
      var entries = new ArrayList<String>();
      while (rows.next()) {
        entries.add(rows.getString(1));
      }
      return entries;
    }
  }
}
