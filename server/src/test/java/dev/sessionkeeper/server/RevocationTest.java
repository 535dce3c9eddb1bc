package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.sessionkeeper.server.security.ApiKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a credential ends, its open connections end too. */
class RevocationTest {
  private final ApiKeys.Generated admin = ApiKeys.generate();
  private final ApiKeys.Generated worker = ApiKeys.generate();
  @TempDir Path folder;

  private String with(String more) {
    return "security: { keys: [ { name: ops, sha256: %s, roles: [admin] }%s ] }\n"
        .formatted(admin.sha256(), more);
  }

  private String worker(String more) {
    return with(
        ", { name: worker, sha256: %s, roles: [read, consume, send]%s }"
            .formatted(worker.sha256(), more));
  }

  private TestServer.Reply as(
      ApiKeys.Generated key, TestServer server, String method, String path, String json) {
    return server.send(method, path, Optional.of(json), "Authorization", "Bearer " + key.key());
  }

  private void reload(TestServer server, String yaml) {
    server.rewrite(yaml);
    assertThat(as(admin, server, "POST", "/admin/reload", "{}").status()).isEqualTo(200);
  }

  private OpenStream stream(TestServer server, String stream) {
    var open = OpenStream.of(server, stream, Map.of("Authorization", "Bearer " + worker.key()));
    open.awaitOpen();
    return open;
  }

  @Test
  void theStreamOfARemovedKeyEnds() {
    try (var server = TestServer.start(worker(""));
        var open = stream(server, "s")) {
      reload(server, with(""));
      open.awaitEnd();
    }
  }

  @Test
  void theStreamOfANarrowedKeyEnds() {
    try (var server = TestServer.start(worker(""));
        var open = stream(server, "s")) {
      reload(server, worker(", queues: [q]"));
      open.awaitEnd();
    }
  }

  @Test
  void aStreamGoesOnWhenItsKeyDidNotChange() {
    try (var server = TestServer.start(worker(""));
        var open = stream(server, "s")) {
      reload(server, worker("") + "streams: { max_readers: 9 }\n");
      reload(server, worker(""));
      as(admin, server, "POST", "/streams/s/events", "{\"event\":\"e\",\"data\":1}");
      assertThat(open.hasEnded()).isFalse();
      assertThat(server.server().running()).isEqualTo(1);
    }
  }

  @Test
  void theLongPollOfARemovedKeyIsRefusedAndTakesNoLease() {
    try (var server = TestServer.start(worker(""))) {
      as(admin, server, "PUT", "/queues/q", "{\"mode\":\"ORDERED\"}");
      var poll =
          CompletableFuture.supplyAsync(
              () -> as(worker, server, "POST", "/queues/q/leases", "{\"wait\":\"PT60S\"}"));
      await().until(() -> server.server().running() == 1);
      reload(server, with(""));
      assertThat(poll.join().status()).isEqualTo(401);

      as(
          admin,
          server,
          "POST",
          "/queues/q/messages",
          "{\"messages\":[{\"sessionId\":\"s\",\"body\":1}]}");
      assertThat(as(admin, server, "POST", "/queues/q/leases", "{}").status()).isEqualTo(201);
    }
  }

  @Test
  void theLongPollOfAKeyThatLostItsQueueIsRefused() {
    try (var server = TestServer.start(worker(", queues: [q]"))) {
      as(admin, server, "PUT", "/queues/q", "{\"mode\":\"ORDERED\"}");
      var poll =
          CompletableFuture.supplyAsync(
              () -> as(worker, server, "POST", "/queues/q/leases", "{\"wait\":\"PT60S\"}"));
      await().until(() -> server.server().running() == 1);
      reload(server, worker(", queues: [other]"));
      assertThat(poll.join().status()).isEqualTo(404);
    }
  }

  @Test
  void aStreamEndsWhenItsTokenHasExpired() throws Exception {
    var key = new ECKeyGenerator(Curve.P_256).keyID("k").generate();
    var file = folder.resolve("keys.json");
    Files.writeString(file, new JWKSet(key.toPublicJWK()).toString());
    var claims =
        new JWTClaimsSet.Builder()
            .issuer("i")
            .audience("a")
            .subject("person")
            .claim("roles", List.of("read"))
            .expirationTime(Date.from(Instant.now().plusSeconds(600)))
            .build();
    var token = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k").build(), claims);
    token.sign(new ECDSASigner(key));
    var time = new ShiftedTime();
    var yaml =
        "security: { jwt: { issuer: i, audience: a, bound_to_tenant: false, jwks_file: \"%s\" } }"
            .formatted(file);
    try (var server = TestServer.start(yaml, time);
        var open =
            OpenStream.of(server, "s", Map.of("Authorization", "Bearer " + token.serialize()))) {
      open.awaitOpen();
      time.shift(Duration.ofMinutes(5));
      assertThat(open.hasEnded()).isFalse();
      time.shift(Duration.ofMinutes(10));
      open.awaitEnd();
    }
  }
}
