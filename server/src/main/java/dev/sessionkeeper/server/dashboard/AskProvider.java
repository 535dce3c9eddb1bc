package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.security.CallProvider;
import dev.sessionkeeper.server.security.JwtConfig;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks an OpenID Connect provider for its endpoints, and for the tokens of a login. Waits for the
 * network, so only page handlers call it.
 */
final class AskProvider {
  private static final String DISCOVERY = "/.well-known/openid-configuration";

  /**
   * How long the provider's endpoints are cached. Anyone may begin a login, which must not cause a
   * call each time.
   */
  private static final Duration REMEMBERED = Duration.ofMinutes(5);

  /** The most concurrent calls to the provider, because anyone may begin a login. */
  private static final int MOST_AT_ONCE = 16;

  private final DashboardConfig.OidcClient client;
  private final TimeSource time;
  private final Semaphore turns = new Semaphore(MOST_AT_ONCE);
  private volatile @Nullable Remembered remembered;

  AskProvider(DashboardConfig.OidcClient client, TimeSource time) {
    this.client = client;
    this.time = time;
  }

  /**
   * The endpoints of a provider.
   *
   * @param takesBasic whether the client secret goes into the Authorization header
   */
  private record Places(String issuer, URI authorization, URI token, boolean takesBasic) {}

  private record Remembered(Places places, long at) {}

  /** The tokens that the provider returned for a code; empty if it returned none. */
  record Tokens(Optional<String> id, Optional<String> access) {}

  /**
   * Returns the address at which a person logs in.
   *
   * @param challenge of PKCE, made with SHA-256
   * @throws IOException if the provider does not answer, or answers with something else than OpenID
   *     Connect
   */
  String loginAddress(String issuer, URI redirect, String state, String nonce, String challenge)
      throws IOException {
    var query = new LinkedHashMap<String, String>();
    query.put("response_type", "code");
    query.put("client_id", client.clientId());
    query.put("redirect_uri", redirect.toString());
    query.put("scope", String.join(" ", client.scopes()));
    query.put("state", state);
    query.put("nonce", nonce);
    query.put("code_challenge", challenge);
    query.put("code_challenge_method", "S256");
    return Links.with(places(issuer).authorization().toString(), query);
  }

  /**
   * Exchanges a code for tokens.
   *
   * @throws IOException if the provider does not answer, or refuses the code
   */
  Tokens exchange(String issuer, URI redirect, String code, String verifier) throws IOException {
    var places = places(issuer);
    var form = new LinkedHashMap<String, String>();
    form.put("grant_type", "authorization_code");
    form.put("code", code);
    form.put("redirect_uri", redirect.toString());
    form.put("code_verifier", verifier);
    boolean isBasic = client.clientSecret().isPresent() && places.takesBasic();
    if (!isBasic) {
      form.put("client_id", client.clientId());
      client.clientSecret().ifPresent(secret -> form.put("client_secret", secret.reveal()));
    }
    var answer =
        inTurn(() -> CallProvider.post(places.token(), encode(form), isBasic ? basic() : ""));
    return new Tokens(text(answer, "id_token"), text(answer, "access_token"));
  }

  private Places places(String issuer) throws IOException {
    var last = remembered;
    if (last != null
        && last.places().issuer().equals(issuer)
        && time.since(last.at()).compareTo(REMEMBERED) < 0) {
      return last.places();
    }
    var found = discover(issuer);
    remembered = new Remembered(found, time.nanoTime());
    return found;
  }

  private Places discover(String issuer) throws IOException {
    var base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
    try {
      var document = inTurn(() -> CallProvider.get(JwtConfig.https(base + DISCOVERY)));
      if (!document.text("issuer").equals(issuer)) {
        throw new IOException(
            "The provider calls itself " + document.text("issuer") + ", not " + issuer);
      }
      var methods = document.texts("token_endpoint_auth_methods_supported");
      return new Places(
          issuer,
          JwtConfig.https(document.text("authorization_endpoint")),
          JwtConfig.https(document.text("token_endpoint")),
          methods.isEmpty() || methods.contains("client_secret_basic"));
    } catch (IllegalArgumentException e) {
      throw new IOException("The provider " + issuer + ": an address " + e.getMessage(), e);
    }
  }

  @FunctionalInterface
  private interface Call {
    String answer() throws IOException;
  }

  private Data inTurn(Call call) throws IOException {
    if (!turns.tryAcquire()) {
      throw new IOException("Too many people log in at the same time; try again in a moment");
    }
    try {
      return read(call.answer());
    } finally {
      turns.release();
    }
  }

  private static Data read(String json) throws IOException {
    return Data.document(json.getBytes(StandardCharsets.UTF_8))
        .orElseThrow(() -> new IOException("The provider did not answer with JSON"));
  }

  private static Optional<String> text(Data data, String name) {
    return Optional.of(data.text(name)).filter(text -> !text.isEmpty());
  }

  /** RFC 6749 form-encodes both parts before joining them. */
  private String basic() {
    var pair =
        Stream.of(client.clientId(), client.clientSecret().orElseThrow().reveal())
            .map(part -> URLEncoder.encode(part, StandardCharsets.UTF_8))
            .collect(Collectors.joining(":"));
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static String encode(Map<String, String> form) {
    return form.entrySet().stream()
        .map(field -> field.getKey() + "=" + Links.encode(field.getValue()))
        .collect(Collectors.joining("&"));
  }
}
