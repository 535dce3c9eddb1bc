package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
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

/** Lets in who shows a key, a token or a certificate with the role that the route asks for. */
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
    return authorized(visit, caller);
  }

  @Override
  public Caller admitAgain(Visit visit) {
    return visit.route().role() == Role.ANYONE
        ? Caller.ANONYMOUS
        : authorized(visit, identify(visit));
  }

  private static Caller authorized(Visit visit, Caller caller) {
    if (!caller.has(visit.route().role())) {
      throw ProblemType.FORBIDDEN
          .with("This needs the role " + visit.route().role().key())
          .toException();
    }
    requireVisibleQueue(visit, caller);
    return caller;
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
    // A digest cannot be guessed from how long its comparison takes: nobody can choose its bytes.
    var known = Optional.ofNullable(byDigest.get(ApiKeys.digest(shown)));
    return known
        .or(() -> tokens.flatMap(verify -> verify.callerOf(shown)))
        .orElseThrow(() -> unauthenticated("The key or token is not known, or has expired"));
  }

  /** What a caller may not see does not exist for it. */
  private static void requireVisibleQueue(Visit visit, Caller caller) {
    var name = visit.parameters().get("queue");
    if (name == null) {
      return;
    }
    boolean visible;
    try {
      visible = caller.sees(QueueName.of(name));
    } catch (IllegalArgumentException e) {
      visible = true; // No queue can have this name; the route says so better.
    }
    if (!visible) {
      throw ProblemType.UNKNOWN_QUEUE.with("There is no queue " + name).toException();
    }
  }

  private static ProblemException unauthenticated(String detail) {
    return ProblemType.UNAUTHENTICATED
        .with(detail)
        .header("WWW-Authenticate", "Bearer realm=\"sessionkeeper\"")
        .toException();
  }
}
