package dev.sessionkeeper.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** An OpenID Connect provider with a login page, single-use codes, PKCE and signed tokens. */
final class LocalIssuer implements AutoCloseable {
  static final String CLIENT = "keeper dashboard";
  static final String SECRET = "s3cret: with + and %";
  static final String TENANT = "8d2a4c1e-1111-4222-8333-444455556666";

  private final RSAKey key;
  private final HttpServer server;
  private final Map<String, Map<String, String>> codes = new ConcurrentHashMap<>();
  private volatile UnaryOperator<JWTClaimsSet.Builder> claims = UnaryOperator.identity();

  LocalIssuer() {
    try {
      key = new RSAKeyGenerator(2048).keyID("k1").generate();
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException | JOSEException e) {
      throw new AssertionError(e);
    }
    server.createContext("/.well-known/openid-configuration", this::discovery);
    server.createContext("/jwks", exchange -> json(exchange, 200, jwks()));
    server.createContext("/authorize", this::authorize);
    server.createContext("/token", this::token);
    server.start();
  }

  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Changes the claims of the ID tokens from now on. */
  void claims(UnaryOperator<JWTClaimsSet.Builder> change) {
    claims = change;
  }

  private String jwks() {
    return new JWKSet(key).toString();
  }

  private void discovery(HttpExchange exchange) throws IOException {
    var at = address();
    json(
        exchange,
        200,
        """
        {"issuer":"%s","authorization_endpoint":"%s/authorize","token_endpoint":"%s/token","jwks_uri":"%s/jwks",
         "token_endpoint_auth_methods_supported":["client_secret_basic"]}
        """
            .formatted(at, at, at, at));
  }

  /** Shows a page with two links, as a provider's login page. */
  private void authorize(HttpExchange exchange) throws IOException {
    var asked = fields(exchange.getRequestURI().getRawQuery());
    if (!CLIENT.equals(asked.get("client_id"))
        || !"code".equals(asked.get("response_type"))
        || !"S256".equals(asked.get("code_challenge_method"))
        || !List.of(asked.getOrDefault("scope", "").split(" ")).contains("openid")) {
      json(exchange, 400, "{\"error\":\"invalid_request\"}");
      return;
    }
    var code = UUID.randomUUID().toString();
    codes.put(code, asked);
    var back =
        asked.get("redirect_uri")
            + "?state="
            + encode(asked.get("state"))
            + "&iss="
            + encode(address());
    answer(
        exchange,
        200,
        "text/html",
        "<!doctype html><link rel=\"icon\" href=\"data:,\"><title>Provider</title><a id=\"yes\" href=\"%s\">Sign in as ann</a> <a id=\"no\" href=\"%s\">Refuse</a>"
            .formatted(
                (back + "&code=" + code + "&session_state=x").replace("&", "&amp;"),
                (back + "&error=access_denied&error_description=" + encode("<b>Ann said no</b>"))
                    .replace("&", "&amp;")));
  }

  private void token(HttpExchange exchange) throws IOException {
    var form = fields(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    var basic = encode(CLIENT) + ":" + encode(SECRET);
    var expected = "Basic " + Base64.getEncoder().encodeToString(basic.getBytes(UTF_8));
    var asked = codes.remove(form.getOrDefault("code", ""));
    if (asked == null
        || !expected.equals(exchange.getRequestHeaders().getFirst("Authorization"))
        || !asked.get("redirect_uri").equals(form.get("redirect_uri"))
        || form.getOrDefault("code_verifier", "").length() < 43
        || !challenge(form.get("code_verifier")).equals(asked.get("code_challenge"))) {
      json(exchange, 400, "{\"error\":\"invalid_grant\"}");
      return;
    }
    json(
        exchange,
        200,
        "{\"token_type\":\"Bearer\",\"access_token\":\"opaque\",\"id_token\":\"%s\"}"
            .formatted(idToken(asked.get("nonce"))));
  }

  private String idToken(String nonce) {
    var now = Instant.now();
    var standard =
        new JWTClaimsSet.Builder()
            .issuer(address())
            .subject("ann")
            .audience(CLIENT)
            .issueTime(Date.from(now))
            .expirationTime(Date.from(now.plusSeconds(60)))
            .claim("nonce", nonce)
            .claim("roles", List.of("read", "operate"))
            .claim("tenant", TENANT);
    var token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("k1").build(),
            claims.apply(standard).build());
    try {
      token.sign(new RSASSASigner(key));
    } catch (JOSEException e) {
      throw new AssertionError(e);
    }
    return token.serialize();
  }

  private static String challenge(String verifier) {
    try {
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  private static Map<String, String> fields(String encoded) {
    var fields = new HashMap<String, String>();
    for (var pair : encoded.split("&")) {
      int equals = pair.indexOf('=');
      fields.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), UTF_8));
    }
    return fields;
  }

  private static void json(HttpExchange exchange, int status, String text) throws IOException {
    answer(exchange, status, "application/json", text);
  }

  private static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    try (exchange) {
      var bytes = text.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
