package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.security.SecurityConfig.ApiKey;
import dev.sessionkeeper.server.security.SecurityConfig.Certificate;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Identifies callers by their key, token or certificate, and limits their request rate. */
final class CredentialGate implements Gate {
  private static final String BEARER = "Bearer ";

  private final Map<String, Caller> byDigest;
  private final StoredKeys stored;
  private final Map<String, Caller> bySubject;
  private final Optional<VerifyTokens> tokens;
  private final Optional<LimitRate> limit;
  private final BrowserSessions browsers;

  /** Pages refresh themselves, so browsers have a rate limit of their own. */
  private final LimitRate pages =
      new LimitRate(new SecurityConfig.RateLimit(200, Duration.ofSeconds(1)));

  CredentialGate(
      SecurityConfig config,
      StoredKeys stored,
      Optional<VerifyTokens> tokens,
      Optional<LimitRate> limit,
      BrowserSessions browsers) {
    this.browsers = browsers;
    this.stored = stored;
    this.byDigest =
        config.keys().stream()
            .collect(Collectors.toMap(ApiKey::sha256, ApiKey::caller, (a, b) -> a));
    this.bySubject =
        config.certificates().stream()
            .collect(Collectors.toMap(Certificate::subject, Certificate::caller, (a, b) -> a));
    this.tokens = tokens;
    this.limit = limit;
  }

  @Override
  public Caller admit(Visit visit) {
    if (visit.route().role() == Role.ANYONE) {
      return Caller.ANONYMOUS;
    }
    var caller = identify(visit);
    if (visit.route().isPage()) {
      pages.take(caller.name());
    } else {
      count(caller.name());
    }
    return caller;
  }

  /** Counts one request against the rate limit. */
  void count(String credential) {
    limit.ifPresent(rate -> rate.take(credential));
  }

  @Override
  public Caller admitAgain(Visit visit) {
    return visit.route().role() == Role.ANYONE ? Caller.ANONYMOUS : identify(visit);
  }

  /**
   * Returns whether a credential of this name may still call. Only their issuer decides about
   * tokens.
   */
  boolean knows(String name) {
    return named(name).isPresent() || (tokens.isPresent() && name.startsWith(VerifyTokens.PREFIX));
  }

  /** Returns the valid key or certificate of this name. */
  Optional<Caller> named(String name) {
    return Stream.of(byDigest.values(), stored.callers(), bySubject.values())
        .flatMap(Collection::stream)
        .filter(caller -> caller.name().equals(name))
        .findFirst();
  }

  /** Returns the credentials that the configuration names. */
  List<Guard.Credential> configured() {
    return Stream.concat(
            byDigest.values().stream().map(caller -> Guard.Credential.of("key", caller)),
            bySubject.values().stream().map(caller -> Guard.Credential.of("certificate", caller)))
        .toList();
  }

  private Caller identify(Visit visit) {
    var authorization = visit.header("Authorization");
    var shown =
        authorization.startsWith(BEARER)
            ? authorization.substring(BEARER.length()).strip()
            : visit.header("X-Api-Key");
    if (shown.isEmpty() && visit.route().isPage()) {
      var known = browsers.read(visit.header("Cookie")).flatMap(this::callerOf);
      if (known.isPresent()) {
        return known.get();
      }
    }
    if (shown.isEmpty()) {
      return Optional.ofNullable(bySubject.get(visit.certificateSubject()))
          .orElseThrow(
              () ->
                  unauthenticated(
                      "The request has no credential. Send an API key or token as Authorization:"
                          + " Bearer"));
    }
    return callerOf(shown);
  }

  /** A key that a reload removed is refused at once, and so are tokens of a removed provider. */
  private Optional<Caller> callerOf(BrowserSessions.Login login) {
    return switch (login) {
      case BrowserSessions.Login.ByKey key -> callerOfDigest(key.sha256());
      case BrowserSessions.Login.ByToken token ->
          tokens.isPresent() ? Optional.of(token.caller()) : Optional.empty();
    };
  }

  /**
   * Returns the login of a browser that shows this key or token.
   *
   * @throws ProblemException 401
   */
  BrowserSessions.Login login(String shown) {
    var digest = ApiKeys.digest(shown);
    if (callerOfDigest(digest).isPresent()) {
      return new BrowserSessions.Login.ByKey(digest);
    }
    var token = believed(shown);
    return new BrowserSessions.Login.ByToken(token.caller(), token.until());
  }

  Optional<Caller> callerOfDigest(String sha256) {
    return Optional.ofNullable(byDigest.get(sha256)).or(() -> stored.callerOf(sha256));
  }

  private Caller callerOf(String shown) {
    // Timing reveals nothing: the caller cannot choose the digest's bytes.
    return callerOfDigest(ApiKeys.digest(shown)).orElseGet(() -> believed(shown).caller());
  }

  private VerifyTokens.Verdict.Believed believed(String shown) {
    var token =
        tokens.map(verify -> verify.callerOf(shown)).orElseGet(VerifyTokens.Verdict.Unknown::new);
    return switch (token) {
      case VerifyTokens.Verdict.Believed believed -> believed;
      case VerifyTokens.Verdict.Unusable unusable -> throw unauthenticated(unusable.why());
      case VerifyTokens.Verdict.Unknown unknown ->
          throw unauthenticated("The key or token is not known, or has expired");
    };
  }

  private static ProblemException unauthenticated(String detail) {
    return ProblemType.UNAUTHENTICATED
        .with(detail)
        .header("WWW-Authenticate", "Bearer realm=\"sessionkeeper\"")
        .toException();
  }
}
