package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Browsers: origins that may call, tokens for one stream, and the streams of a tenant. */
class StreamTokensTest {
  private static final String ORIGIN = "https://app.example";
  private static final UUID TENANT = UUID.randomUUID();
  private static final ApiKeys.Generated BOSS = ApiKeys.generate();
  private static final ApiKeys.Generated READER = ApiKeys.generate();
  private static final ApiKeys.Generated TENANTS = ApiKeys.generate();
  private static TestServer server;

  private static String yaml(boolean hasReader) {
    return yaml(hasReader, "roles: [read]");
  }

  private static String yaml(boolean hasReader, String rightsOfReader) {
    var keys = new StringBuilder("cors: { origins: [\"" + ORIGIN + "\"] }\nsecurity:\n  keys:\n");
    keys.append("    - { name: boss, sha256: %s, roles: [admin] }\n".formatted(BOSS.sha256()));
    keys.append(
        "    - { name: tenants, sha256: %s, roles: [read, send, consume], tenant: %s }\n"
            .formatted(TENANTS.sha256(), TENANT));
    if (hasReader) {
      keys.append(
          "    - { name: reader, sha256: %s, %s }\n".formatted(READER.sha256(), rightsOfReader));
    }
    return keys.toString();
  }

  @BeforeAll
  static void start() {
    server = TestServer.start(yaml(true), TestDatabase.create().environment());
    ask(BOSS, "POST", "/streams/prices/events", "{\"data\":1}");
    ask(BOSS, "POST", "/streams/secret/events", "{\"data\":1}");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static TestServer.Reply ask(
      ApiKeys.Generated key, String method, String path, String json) {
    return server.send(
        method,
        path,
        Optional.of(json).filter(text -> !text.isEmpty()),
        "Authorization",
        "Bearer " + key.key());
  }

  private static String token(ApiKeys.Generated key, String stream, String query) {
    var reply = ask(key, "POST", "/streams/" + stream + "/tokens" + query, "{\"ttl\":\"PT30S\"}");
    assertThat(reply.status()).as(reply.body()).isEqualTo(201);
    return reply.json().get("token").asString();
  }

  private static TestServer.Reply read(String stream, String query) {
    return server.send(
        "GET",
        "/streams/" + stream + "/events" + query,
        Optional.empty(),
        "Accept",
        "application/json");
  }

  @Test
  void aTokenReadsItsStreamAndNothingElse() {
    var token = token(BOSS, "prices", "");
    assertThat(read("prices", "?token=" + token).status()).isEqualTo(200);
    assertThat(read("prices", "").status()).isEqualTo(401);
    assertThat(read("secret", "?token=" + token).status()).isEqualTo(401);
    assertThat(read("prices", "?subscriber=ann&token=" + token).status()).isEqualTo(401);
    assertThat(read("prices", "?token=" + token + "x").status()).isEqualTo(401);
    assertThat(
            server
                .send("GET", "/queues", Optional.empty(), "Authorization", "Bearer " + token)
                .status())
        .isEqualTo(401);
    assertThat(
            server
                .send(
                    "POST",
                    "/streams/prices/events",
                    Optional.of("{\"data\":1}"),
                    "Authorization",
                    "Bearer " + token)
                .status())
        .isEqualTo(401);
  }

  @Test
  void aTokenOfASubscriberAcknowledgesAsThatOneOnly() {
    ask(BOSS, "PUT", "/streams/prices/subscribers/ann", "{\"from\":\"start\"}");
    var token = token(BOSS, "prices", "?subscriber=ann");
    var ack = "{\"lastEventId\":\"1\"}";
    var path = "/streams/prices/subscribers/%s/ack?token=" + token;
    assertThat(server.post(path.formatted("ann"), ack).status()).isEqualTo(200);
    assertThat(server.post(path.formatted("bob"), ack).status()).isEqualTo(401);
    assertThat(read("prices", "?subscriber=ann&token=" + token).status()).isEqualTo(200);
  }

  /** Otherwise a credential could ask for one token and then call without a limit. */
  @Test
  void callsWithATokenCountForTheCredentialThatAskedForIt() {
    var yaml =
        "security:\n  rate_limit: { requests: 3, per: 1h }\n  keys:\n    - { name: reader, sha256: "
            + READER.sha256()
            + ", roles: [read] }\n";
    try (var limited = TestServer.start(yaml)) {
      var token =
          limited
              .send(
                  "POST",
                  "/streams/prices/tokens",
                  Optional.of("{}"),
                  "Authorization",
                  "Bearer " + READER.key())
              .json()
              .get("token")
              .asString();
      var path = "/streams/prices/events?token=" + token;
      var accept = new String[] {"Accept", "application/json"};
      for (int i = 0; i < 2; i++) {
        assertThat(limited.send("GET", path, Optional.empty(), accept).status()).isEqualTo(200);
      }
      assertThat(limited.send("GET", path, Optional.empty(), accept).status()).isEqualTo(429);
    }
  }

  /** Otherwise one credential could make the server swallow the event of another. */
  @Test
  void keysOfRequestsBelongToOneCredentialWhateverItsName() {
    var yaml =
        """
        security:
          keys:
            - { name: a, sha256: %s, roles: [send] }
            - { name: "a:b", sha256: %s, roles: [send] }
        """
            .formatted(BOSS.sha256(), READER.sha256());
    try (var server = TestServer.start(yaml)) {
      for (var sender : Map.of(BOSS, "b:c", READER, "c").entrySet()) {
        var published =
            server.send(
                "POST",
                "/streams/prices/events",
                Optional.of("{\"data\":1}"),
                "Authorization",
                "Bearer " + sender.getKey().key(),
                "Idempotency-Key",
                sender.getValue());
        assertThat(published.status()).as(published.body()).isEqualTo(201);
        assertThat(published.json().get("duplicate").asBoolean()).isFalse();
      }
    }
  }

  @Test
  void aTokenNamesNoSubscriberWithoutTheRoleForIt() {
    assertThat(ask(READER, "POST", "/streams/prices/tokens?subscriber=ann", "{}").status())
        .isEqualTo(403);
  }

  @Test
  void aTokenEndsWithItsCredential() {
    var token = token(READER, "prices", "");
    assertThat(read("prices", "?token=" + token).status()).isEqualTo(200);
    server.rewrite(yaml(false));
    try {
      server.server().reload();
      assertThat(read("prices", "?token=" + token).status()).isEqualTo(401);
    } finally {
      server.rewrite(yaml(true));
      server.server().reload();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'roles: [send]', 403",
    "'roles: [read], queues: [orders]', 404",
    "'roles: [read], tenant: 8d2a4c1e-1111-4222-8333-444455556666', 404"
  })
  void aTokenLosesWhatItsCredentialLoses(String rights, int status) {
    var token = token(READER, "prices", "");
    server.rewrite(yaml(true, rights));
    try {
      server.server().reload();
      assertThat(read("prices", "?token=" + token).status()).isEqualTo(status);
    } finally {
      server.rewrite(yaml(true));
      server.server().reload();
    }
    assertThat(read("prices", "?token=" + token).status()).isEqualTo(200);
  }

  @Test
  void aTokenThatATokenOfAProviderAskedForEndsWithIt(@TempDir Path folder) {
    var provider = TestTokens.in(folder);
    var yaml = "security:\n" + provider.yaml(", bound_to_tenant: false");
    var end = Instant.now().plus(Duration.ofMinutes(2)).truncatedTo(ChronoUnit.SECONDS);
    try (var own = TestServer.start(yaml)) {
      var granted =
          own.send(
              "POST",
              "/streams/prices/tokens",
              Optional.of("{\"ttl\":\"PT1H\"}"),
              "Authorization",
              "Bearer " + provider.token(claims -> claims.expirationTime(Date.from(end))));
      assertThat(granted.status()).isEqualTo(201);
      assertThat(Instant.parse(granted.json().get("expiresAt").asString())).isEqualTo(end);
    }
  }

  @Test
  void aListedOriginMayCallAndAnotherOneMayNot() {
    var preflight =
        server.send(
            "OPTIONS",
            "/streams/prices/tokens",
            Optional.empty(),
            "Origin",
            ORIGIN,
            "Access-Control-Request-Method",
            "POST");
    assertThat(preflight.status()).isEqualTo(204);
    assertThat(preflight.header("Access-Control-Allow-Origin")).isEqualTo(ORIGIN);
    assertThat(preflight.header("Access-Control-Allow-Headers")).contains("Authorization");
    assertThat(preflight.header("Access-Control-Allow-Credentials")).isEmpty();

    var token = token(BOSS, "prices", "");
    var path = "/streams/prices/events?token=" + token;
    var listed =
        server.send(
            "GET",
            path,
            Optional.empty(),
            "Origin",
            ORIGIN,
            "Sec-Fetch-Site",
            "cross-site",
            "Accept",
            "application/json");
    assertThat(listed.status()).isEqualTo(200);
    assertThat(listed.header("Access-Control-Allow-Origin")).isEqualTo(ORIGIN);
    var other =
        server.send(
            "GET",
            path,
            Optional.empty(),
            "Origin",
            "https://evil.example",
            "Sec-Fetch-Site",
            "cross-site");
    assertThat(other.status()).isEqualTo(403);
    assertThat(other.header("Access-Control-Allow-Origin")).isEmpty();
  }

  @Test
  void aTenantSeesItsOwnStreamsAndItsOwnSessions() {
    var own = "tenant." + TENANT + ".orders";
    assertThat(ask(TENANTS, "POST", "/streams/" + own + "/events", "{\"data\":1}").status())
        .isEqualTo(201);
    for (var tenant : new UUID[] {TENANT, UUID.randomUUID()}) {
      var put =
          "{\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\",\"sessionKind\":1}"
              .formatted(UUID.randomUUID(), tenant, UUID.randomUUID());
      assertThat(ask(BOSS, "PUT", "/sessions", put).status()).isEqualTo(201);
    }
    org.awaitility.Awaitility.await()
        .until(() -> registry(BOSS).size() == 2 && registry(TENANTS).size() == 1);
    assertThat(registry(TENANTS).get(0).at("/data/tenantObjectId").asString())
        .isEqualTo(TENANT.toString());
    assertThat(ask(TENANTS, "GET", "/streams", "").json().get("streams").findValuesAsString("name"))
        .containsExactly("keeper.registry", own);
    assertThat(ask(TENANTS, "GET", "/streams/prices/subscribers", "").status()).isEqualTo(404);
    assertThat(ask(TENANTS, "GET", "/streams/keeper.registry/subscribers", "").status())
        .isEqualTo(404);
    var token = token(TENANTS, "keeper.registry", "");
    assertThat(read("keeper.registry", "?token=" + token).json().get("events")).hasSize(1);
  }

  private static tools.jackson.databind.JsonNode registry(ApiKeys.Generated key) {
    return server
        .send(
            "GET",
            "/streams/keeper.registry/events",
            Optional.empty(),
            "Accept",
            "application/json",
            "Authorization",
            "Bearer " + key.key())
        .json()
        .get("events");
  }
}
