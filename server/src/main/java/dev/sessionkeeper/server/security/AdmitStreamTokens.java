package dev.sessionkeeper.server.security;

import dev.sessionkeeper.server.http.Caller;
import dev.sessionkeeper.server.http.Gate;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reach;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.time.TimeSource;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Admits bearers of stream tokens to two routes: reading the stream, and acknowledging as the
 * token's subscriber. All other requests go to the guard. An open stream ends soon after its token
 * expires or the granting credential is revoked.
 */
public final class AdmitStreamTokens implements Gate {
  private static final String BEARER = "Bearer ";
  private static final String READ = "GET /streams/{stream}/events";
  private static final String ACK = "POST /streams/{stream}/subscribers/{subscriber}/ack";

  private final Guard guard;
  private final StreamTokens tokens;
  private final TimeSource time;

  public AdmitStreamTokens(Guard guard, StreamTokens tokens, TimeSource time) {
    this.guard = guard;
    this.tokens = tokens;
    this.time = time;
  }

  @Override
  public Caller admit(Visit visit) {
    var token = tokenOf(visit);
    if (token.isEmpty()) {
      return guard.admit(visit);
    }
    var caller = bearer(visit, token.get());
    guard.countFor(caller.name());
    return caller;
  }

  @Override
  public Caller admitAgain(Visit visit) {
    var token = tokenOf(visit);
    return token.isPresent() ? bearer(visit, token.get()) : guard.admitAgain(visit);
  }

  /** Returns the token of the request. A server without credentials needs none. */
  private Optional<String> tokenOf(Visit visit) {
    if (!guard.isClosed()) {
      return Optional.empty();
    }
    var header = visit.header("Authorization");
    if (header.startsWith(BEARER + StreamTokens.PREFIX)) {
      return Optional.of(header.substring(BEARER.length()).strip());
    }
    return Optional.of(visit.query("token")).filter(text -> !text.isEmpty());
  }

  private Caller bearer(Visit visit, String token) {
    var grant =
        tokens.verify(token).orElseThrow(() -> refused("The token is not one of this server"));
    if (!grant.expiresAt().isAfter(time.instant())) {
      throw refused("The token has expired; get a new one from POST /streams/{stream}/tokens");
    }
    if (!guard.knows(grant.credential())) {
      throw refused("The credential that granted the token is no longer valid");
    }
    if (!isFor(visit, grant)) {
      throw refused("The token is for another stream, subscriber or call");
    }
    Set<Role> roles = EnumSet.of(Role.READ);
    grant.subscriber().ifPresent(name -> roles.add(Role.CONSUME));
    var granted = Reach.of(grant.tenant(), Optional.empty());
    return guard
        .rightsOf(grant.credential())
        .map(now -> bearer(now, roles, granted))
        .orElseGet(() -> new Caller(grant.credential(), roles, granted));
  }

  /**
   * Returns the token's rights, as far as its credential still has them: a reload may have reduced
   * them.
   */
  private static Caller bearer(Caller now, Set<Role> granted, Reach reach) {
    var roles = granted.stream().filter(now::has).collect(Collectors.toSet());
    return new Caller(now.name(), roles, now.reach().isEverything() ? reach : now.reach());
  }

  private static boolean isFor(Visit visit, StreamTokens.Grant grant) {
    if (!grant.stream().equals(visit.parameters().get("stream"))) {
      return false;
    }
    var subscriber = grant.subscriber().orElse("");
    return switch (visit.route().toString()) {
      case READ ->
          visit.query("subscriber").isEmpty() || visit.query("subscriber").equals(subscriber);
      case ACK -> subscriber.equals(visit.parameters().get("subscriber"));
      default -> false;
    };
  }

  private static ProblemException refused(String detail) {
    return ProblemType.UNAUTHENTICATED.with(detail).toException();
  }
}
