package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** API keys that are created, listed and revoked over HTTP. */
class StoredKeysTest {
  private final TestDatabase database = TestDatabase.create();
  private final ApiKeys.Generated admin = ApiKeys.generate();
  private TestServer server;

  @BeforeEach
  void start() {
    server = open();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private TestServer open() {
    return TestServer.start(
        "security: { keys: [ { name: first, sha256: %s, roles: [admin] } ] }\n"
            .formatted(admin.sha256()),
        database.environment());
  }

  private static TestServer.Reply call(
      TestServer server, String key, String method, String path, String json) {
    return server.send(
        method,
        path,
        Optional.of(json).filter(text -> !text.isEmpty()),
        "Authorization",
        "Bearer " + key);
  }

  private String create(String json) {
    var created = call(server, admin.key(), "POST", "/keys", json);
    assertThat(created.status()).isEqualTo(201);
    return created.json().get("key").asString();
  }

  private int queues(TestServer of, String key) {
    return call(of, key, "GET", "/queues", "").status();
  }

  @Test
  void aCreatedKeyWorksUntilItIsRevokedOnEveryServer() {
    try (var other = open()) {
      var key = create("{\"name\":\"worker\",\"roles\":[\"read\"]}");
      assertThat(queues(server, key)).isEqualTo(200);
      await().until(() -> queues(other, key) == 200);
      assertThat(call(server, key, "PUT", "/queues/q", "{\"mode\":\"ORDERED\"}").status())
          .isEqualTo(403);
      assertThat(call(server, admin.key(), "DELETE", "/keys/worker", "").status()).isEqualTo(200);
      assertThat(queues(server, key)).isEqualTo(401);
      await().until(() -> queues(other, key) == 401);
      assertThat(call(server, admin.key(), "DELETE", "/keys/worker", "").status()).isEqualTo(404);
    }
  }

  @Test
  void anExpiredKeyIsRefusedAndTheNextOneToExpireIsShown() throws SQLException {
    var key = create("{\"name\":\"short\",\"roles\":[\"read\"],\"expiresIn\":\"1h\"}");
    assertThat(call(server, admin.key(), "GET", "/metrics", "").body())
        .containsPattern("keeper_api_key_remaining_seconds 3[56]\\d\\d");
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("UPDATE keeper.api_key SET expires_at = clock_timestamp()");
    }
    await().until(() -> queues(server, key) == 401);
  }

  @Test
  void aListNeverShowsAKeyAndSaysWhenItWasUsed() {
    var key = create("{\"name\":\"worker\",\"roles\":[\"read\",\"send\"],\"queues\":[\"q\"]}");
    queues(server, key);
    await()
        .untilAsserted(
            () -> {
              var list = call(server, admin.key(), "GET", "/keys", "");
              assertThat(list.body()).doesNotContain(key).doesNotContain(ApiKeys.digest(key));
              var item = list.json().get("keys").get(0);
              assertThat(key).startsWith(item.get("prefix").asString());
              assertThat(item.get("createdBy").asString()).isEqualTo("first");
              assertThat(item.get("queues").get(0).asString()).isEqualTo("q");
              assertThat(Instant.parse(item.path("lastUsedAt").asString("1970-01-01T00:00:00Z")))
                  .isAfter(Instant.EPOCH);
            });
  }

  @Test
  void aNameIsTakenOnceAndOnlyByAdministrators() {
    var key = create("{\"name\":\"worker\",\"roles\":[\"operate\"]}");
    for (var name : new String[] {"worker", "first"}) {
      assertThat(
              call(
                      server,
                      admin.key(),
                      "POST",
                      "/keys",
                      "{\"name\":\"%s\",\"roles\":[\"read\"]}".formatted(name))
                  .status())
          .isEqualTo(409);
    }
    assertThat(call(server, key, "GET", "/keys", "").status()).isEqualTo(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "a\\nb", "a\\tb", "a\\u0085b", "local", "token:ann"})
  void aNameIsOneLineOfText(String name) {
    var json = "{\"name\":\"%s\",\"roles\":[\"read\"]}".formatted(name);
    var refused = call(server, admin.key(), "POST", "/keys", json);
    assertThat(refused.status()).as(refused.body()).isEqualTo(400);
    assertThat(refused.body()).contains("\"field\":\"name\"");
  }

  @Test
  void anOpenServerRefusesKeysThatItWouldNotAskFor() {
    try (var open = TestServer.start("", TestDatabase.create().environment())) {
      var refused = open.post("/keys", "{\"name\":\"worker\",\"roles\":[\"read\"]}");
      assertThat(refused.status()).isEqualTo(409);
      assertThat(refused.body()).contains("security.keys");
    }
  }
}
