package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.security.SecurityConfig.ApiKey;
import dev.sessionkeeper.server.security.SecurityConfig.Certificate;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Knows callers by the key, token or certificate that they show, and counts their requests. */
final class CredentialGate implements Gate {
  private static final String BEARER = "Bearer ";

  private final Map<String, Caller> byDigest;
  private final Map<String, Caller> bySubject;
  private final Optional<VerifyTokens> tokens;
  private final Optional<LimitRate> limit;

  CredentialGate(SecurityConfig config, Optional<VerifyTokens> tokens, Optional<LimitRate> limit) {
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
    limit.ifPresent(rate -> rate.take(caller.name()));
    return caller;
  }

  @Override
  public Caller admitAgain(Visit visit) {
    return visit.route().role() == Role.ANYONE ? Caller.ANONYMOUS : identify(visit);
  }

  private Caller identify(Visit visit) {
    var authorization = visit.header("Authorization");
    var shown =
        authorization.startsWith(BEARER)
            ? authorization.substring(BEARER.length()).strip()
            : visit.header("X-Api-Key");
    if (shown.isEmpty()) {
      return Optional.ofNullable(bySubject.get(visit.certificateSubject()))
          .orElseThrow(() -> unauthenticated("Show a key or token as Authorization: Bearer"));
    }
    // A digest cannot be guessed from how long its comparison takes: no caller chooses its bytes.
    var known = Optional.ofNullable(byDigest.get(ApiKeys.digest(shown)));
    if (known.isPresent()) {
      return known.get();
    }
    var token =
        tokens.map(verify -> verify.callerOf(shown)).orElseGet(VerifyTokens.Verdict.Unknown::new);
    return switch (token) {
      case VerifyTokens.Verdict.Believed believed -> believed.caller();
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
