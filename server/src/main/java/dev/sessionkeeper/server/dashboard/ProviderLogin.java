package dev.sessionkeeper.server.dashboard;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.security.BrowserSessions;
import dev.sessionkeeper.server.security.Guard;
import java.io.IOException;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets people log in at the identity provider whose tokens the server accepts: OpenID Connect, code
 * flow with PKCE. The token passes the same checks as a token of the API.
 */
final class ProviderLogin {
  private static final String AT_PROVIDER = "/ui/login/oidc";
  private static final String CALLBACK = "/ui/login/callback";

  /**
   * Parameters of the redirect by which a provider returns to the server, the standard ones first.
   */
  private static final List<String> SENT_BACK =
      List.of(
          "code",
          "state",
          "iss",
          "error",
          "error_description",
          "error_uri",
          "session_state",
          "scope",
          "authuser",
          "prompt",
          "hd");

  private static final String STATE = "login-state";
  private static final Duration STATE_LIFE = Duration.ofMinutes(10);
  private static final Logger log = LoggerFactory.getLogger(ProviderLogin.class);

  private final LoginPages login;
  private final Pages pages;
  private final Guard guard;
  private final DashboardConfig config;
  private final AskProvider provider;
  private final SecureRandom random = new SecureRandom();

  ProviderLogin(
      LoginPages login, Pages pages, Guard guard, DashboardConfig config, AskProvider provider) {
    this.login = login;
    this.pages = pages;
    this.guard = guard;
    this.config = config;
    this.provider = provider;
  }

  /** Returns the address that begins a login and finally opens this page. */
  static String link(String next) {
    return Links.with(AT_PROVIDER, Map.of("next", next));
  }

  List<Route> routes() {
    var callback = pages.get(CALLBACK, Role.ANYONE, Scope.open(), this::comeBack);
    for (var parameter : SENT_BACK) {
      callback = callback.query(parameter, "From the identity provider");
    }
    return List.of(
        callback,
        pages
            .get(AT_PROVIDER, Role.ANYONE, Scope.open(), this::goToProvider)
            .query("next", "The page to open then"));
  }

  /**
   * The state that a browser carries to the provider and back.
   *
   * @param nonce ties the token to this login
   */
  private record State(String id, String nonce, String next) {
    String text() {
      return String.join("\n", id, nonce, next);
    }

    static State parse(String text) {
      var parts = text.split("\n", 3);
      return new State(parts[0], parts[1], parts[2]);
    }
  }

  private Response goToProvider(Request request) {
    var next = Links.local(request.query().getOrDefault("next", Links.OVERVIEW));
    var issuer = guard.issuer();
    if (issuer.isEmpty()) {
      return Pages.redirect(Links.login(next));
    }
    var state = new State(randomText(), randomText(), next);
    try {
      var address =
          provider.loginAddress(
              issuer.get(),
              callbackAddress(),
              state.id(),
              state.nonce(),
              challenge(verifier(state)));
      var carried = guard.browsers().seal(state.text(), STATE_LIFE, STATE);
      return Pages.redirect(address)
          .header(
              "Set-Cookie",
              login.cookie(login.stateName(), carried, STATE_LIFE.toSeconds(), "Lax"));
    } catch (IOException e) {
      log.warn("A login could not begin: {}", e.toString());
      return login.form(
          request, 502, next, "The identity provider does not answer. " + e.getMessage());
    }
  }

  /**
   * Logs in the person that the provider sent back. Answers with a page that opens the next one by
   * itself, because browsers send no strict cookie with a redirect that began at the provider.
   */
  private Response comeBack(Request request) {
    var query = request.query();
    var state =
        Pages.cookie(request.header("Cookie"), login.stateName())
            .flatMap(value -> guard.browsers().unseal(value, STATE))
            .map(State::parse)
            .filter(known -> isSame(known.id(), query.getOrDefault("state", "")));
    var issuer = guard.issuer();
    if (issuer.isEmpty() || state.isEmpty()) {
      // No audit entry: anyone can open this address without having begun a login.
      return login.form(
          request,
          401,
          Links.OVERVIEW,
          "This login took longer than ten minutes, or began in another browser. Begin again.");
    }
    var next = state.get().next();
    if (query.containsKey("error")
        || !query.getOrDefault("iss", issuer.get()).equals(issuer.get())) {
      var why =
          query.getOrDefault("error_description", query.getOrDefault("error", "wrong issuer"));
      return refuse(request, next, "The identity provider refused: " + Show.line(why, 300));
    }
    try {
      var tokens =
          provider.exchange(
              issuer.get(),
              callbackAddress(),
              query.getOrDefault("code", ""),
              verifier(state.get()));
      return finish(request, state.get(), tokens);
    } catch (IOException e) {
      log.warn("A login could not end: {}", e.toString());
      return refuse(request, next, "The identity provider did not confirm it: " + e.getMessage());
    }
  }

  /**
   * Uses the ID token if it was issued for this server, otherwise the access token, which the
   * provider gave to this server itself.
   */
  private Response finish(Request request, State state, AskProvider.Tokens tokens) {
    var refusals = new ArrayList<String>();
    var shown =
        Stream.concat(
                tokens.id().filter(token -> isSame(nonce(token), state.nonce())).stream(),
                tokens.access().stream())
            .toList();
    for (var token : shown) {
      try {
        var known = guard.login(token);
        if (known instanceof BrowserSessions.Login.ByToken person && person.hasNoRole()) {
          return refuse(
              request, state.next(), "Your account has no role here. Ask an administrator.");
        }
        login.note(request, known, "with a token of the identity provider");
        return login.withLogin(
            pages.open(200, "bounce.jte", "Log in", request, Map.of("link", state.next())), known);
      } catch (ProblemException e) {
        refusals.add(e.problem().detail());
      }
    }
    return refuse(
        request,
        state.next(),
        "The token was not accepted: "
            + (refusals.isEmpty() ? "there is none for this login" : refusals.getFirst()));
  }

  /**
   * Shows why the login failed. The HTTP kernel counts refused requests in the audit log. A row for
   * each would let anyone fill the log, because an unfinished login stays valid for ten minutes.
   */
  private Response refuse(Request request, String next, String why) {
    return login.form(request, 401, next, why);
  }

  private URI callbackAddress() {
    return URI.create(config.publicUrl().orElseThrow() + CALLBACK);
  }

  /** Derives the PKCE verifier from the store's secret, so the cookie need not carry it. */
  private String verifier(State state) {
    return guard.browsers().secretOf(state.id(), STATE);
  }

  private static String challenge(String verifier) {
    try {
      var digest = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(US_ASCII));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }

  private String randomText() {
    var bytes = new byte[32];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static boolean isSame(String a, String b) {
    return MessageDigest.isEqual(a.getBytes(UTF_8), b.getBytes(UTF_8));
  }

  /** Returns the nonce claim of a token whose signature is checked afterwards. */
  private static String nonce(String token) {
    var parts = token.split("\\.", -1);
    try {
      return parts.length < 2
          ? ""
          : Data.document(Base64.getUrlDecoder().decode(parts[1]))
              .map(claims -> claims.text("nonce"))
              .orElse("");
    } catch (IllegalArgumentException e) {
      return "";
    }
  }
}
