package dev.sessionkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.config.InvalidConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardTest {
  private static final String TENANT = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";

  @TempDir Path folder;

  @Test
  void aKeyHasNeitherTheNilTenantNorTheNameOfAnotherKindOfCaller() {
    var key = "security: { keys: [ { name: \"%s\", sha256: %s, roles: [read]%s } ] }";
    var digest = ApiKeys.generate().sha256();
    for (var yaml :
        List.of(
            key.formatted("a", digest, ", tenant: 00000000-0000-0000-0000-000000000000"),
            key.formatted("token:ann", digest, ""),
            key.formatted("local", digest, ""),
            key.formatted("anonymous", digest, ""))) {
      assertThatThrownBy(() -> TestServer.start(yaml))
          .as(yaml)
          .isInstanceOf(InvalidConfig.class)
          .hasMessageContaining("must");
    }
  }

  /** Leases, receipts and tokens know a credential by its name. */
  @Test
  void twoKeysShareANameOnlyIfTheyShareTheirRights() {
    var one = ApiKeys.generate().sha256();
    var two = ApiKeys.generate().sha256();
    var key = "security: { keys: [ { name: a, sha256: %s, roles: [read] }, { %s } ]%s }";
    for (var yaml :
        List.of(
            key.formatted(one, "name: a, sha256: " + two + ", roles: [admin]", ""),
            key.formatted(one, "name: a, sha256: " + two + ", roles: [read], queues: [q]", ""),
            key.formatted(one, "name: b, sha256: " + one + ", roles: [admin]", ""),
            key.formatted(
                one,
                "name: b, sha256: " + two + ", roles: [read]",
                ", certificates: [ { subject: a, roles: [admin] } ]"))) {
      assertThatThrownBy(() -> TestServer.start(yaml))
          .as(yaml)
          .isInstanceOf(InvalidConfig.class)
          .hasMessageMatching("(?s).*(different rights|the same key twice).*");
    }
    var rotation = key.formatted(one, "name: a, sha256: " + two + ", roles: [read]", "");
    try (var server = TestServer.start(rotation)) {
      assertThat(server.get("/health/live").status()).isEqualTo(200);
    }
  }

  @Test
  void anotherAddressThanLoopbackNeedsAuthentication() {
    assertThatThrownBy(() -> TestServer.start("server: { host: 0.0.0.0 }"))
        .isInstanceOf(InvalidConfig.class)
        .hasMessageContaining("server.host is 0.0.0.0")
        .hasMessageContaining("127.0.0.1");
  }

  @Test
  void aRequestOfAWebPageIsRefusedByAnOpenServer() throws IOException {
    try (var server = TestServer.start("")) {
      assertThat(raw(server, "Host: 127.0.0.1")).startsWith("HTTP/1.1 200");
      assertThat(raw(server, "Host: localhost:8080")).startsWith("HTTP/1.1 200");
      assertThat(raw(server, "Host: evil.example")).startsWith("HTTP/1.1 421");
      assertThat(raw(server, "Host: 127.0.0.1", "Origin: https://evil.example"))
          .startsWith("HTTP/1.1 403");
      assertThat(raw(server, "Host: 127.0.0.1", "Origin: http://127.0.0.1"))
          .startsWith("HTTP/1.1 200");
    }
  }

  private static String raw(TestServer server, String... headers) throws IOException {
    try (var socket = new Socket("127.0.0.1", server.port())) {
      var request =
          "GET /queues HTTP/1.1\r\nConnection: close\r\n"
              + String.join("\r\n", headers)
              + "\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aCredentialThatAsksTooOftenIsToldWhenToComeBack() {
    var key = ApiKeys.generate();
    var yaml =
        """
        security:
          keys: [ { name: a, sha256: %s, roles: [read] } ]
          rate_limit: { requests: 2, per: 1h }
        """
            .formatted(key.sha256());
    try (var server = TestServer.start(yaml)) {
      assertThat(get(server, key.key()).status()).isEqualTo(200);
      assertThat(get(server, key.key()).status()).isEqualTo(200);
      var refused = get(server, key.key());
      assertThat(refused.problem()).isEqualTo("rate-limited");
      assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 1800);
      assertThat(server.get("/health/live").status()).isEqualTo(200);
    }
  }

  @Test
  void aTokenIsBelievedWhenEverythingAboutItIsRight() throws Exception {
    var key = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
    try (var server = TestServer.start(jwtConfig(key))) {
      assertThat(get(server, token(key, claims().build())).status()).isEqualTo(200);
      var noRole = claims().claim("roles", List.of("send")).build();
      assertThat(get(server, token(key, noRole)).problem()).isEqualTo("forbidden");
    }
  }

  @Test
  void aTokenIsRefusedWhenAnythingAboutItIsWrong() throws Exception {
    var key = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
    var other = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
    var past = Date.from(Instant.parse("2020-01-01T00:00:00Z"));
    try (var server = TestServer.start(jwtConfig(key))) {
      var shared = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims().build());
      shared.sign(new MACSigner(new byte[32]));
      for (var token :
          List.of(
              token(other, claims().build()),
              token(key, claims().issuer("https://evil.example").build()),
              token(key, claims().audience("another").build()),
              token(key, claims().expirationTime(past).build()),
              token(key, claims().expirationTime(null).build()),
              token(key, claims().claim("tenant", "not-a-guid").build()),
              // Tokens are not bound to tenants here, so a token that names a tenant is refused.
              token(key, claims().claim("tenant", TENANT).build()),
              new PlainJWT(claims().build()).serialize(),
              shared.serialize(),
              "not.a.token")) {
        assertThat(get(server, token).problem()).as(token).isEqualTo("unauthenticated");
      }
    }
  }

  private String jwtConfig(ECKey key) throws IOException {
    var file = Files.writeString(folder.resolve("jwks.json"), new JWKSet(key).toString());
    return """
    security:
      jwt: { issuer: "https://id.example", audience: keeper, algorithms: [ES256], jwks_file: "%s", bound_to_tenant: false }
    """
        .formatted(file);
  }

  private static JWTClaimsSet.Builder claims() {
    return new JWTClaimsSet.Builder()
        .subject("ann")
        .issuer("https://id.example")
        .audience("keeper")
        .expirationTime(Date.from(Instant.parse("2100-01-01T00:00:00Z")))
        .claim("roles", List.of("read"));
  }

  private static String token(ECKey key, JWTClaimsSet claims) throws Exception {
    var token =
        new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k1").build(), claims);
    token.sign(new ECDSASigner(key));
    return token.serialize();
  }

  private static TestServer.Reply get(TestServer server, String credential) {
    return server.send("GET", "/queues", Optional.empty(), "Authorization", "Bearer " + credential);
  }
}
