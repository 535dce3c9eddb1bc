package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.security.Guard;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;

/** Lists credentials with the time of their last use, so that operators can remove unused ones. */
public final class ActivityRoutes {
  private final LastSeen lastSeen;
  private final Supplier<List<Guard.Credential>> configured;

  public ActivityRoutes(LastSeen lastSeen, Supplier<List<Guard.Credential>> configured) {
    this.lastSeen = lastSeen;
    this.configured = configured;
  }

  /**
   * A credential and its last use.
   *
   * @param kind key, certificate, token, or removed for one that the configuration no longer names
   * @param tenant the one tenant that it reaches
   * @param queues the only queues that it reaches
   */
  record Credential(
      String name,
      String kind,
      List<String> roles,
      Optional<UUID> tenant,
      Optional<List<String>> queues,
      Optional<Instant> lastSeenAt) {}

  /** Credentials that are configured or were ever used, by name. */
  record Credentials(List<Credential> credentials) {}

  public List<Route> routes() {
    return List.of(
        Route.get("/credentials", Role.OPERATE, Scope.server("Credentials"), this::credentials)
            .summary("The credentials with roles, bindings and last use")
            .answers(200, "Credentials that are configured or were ever used", Credentials.class));
  }

  private Response credentials(Request request) {
    var all = new TreeMap<String, Credential>();
    for (var sight : lastSeen.list(RememberCallers.CREDENTIAL)) {
      var kind = sight.name().startsWith("token:") ? "token" : "removed";
      all.put(
          sight.name(),
          new Credential(
              sight.name(),
              kind,
              List.of(),
              Optional.empty(),
              Optional.empty(),
              Optional.of(sight.lastSeenAt())));
    }
    for (var one : configured.get()) {
      var seen = Optional.ofNullable(all.get(one.name())).flatMap(Credential::lastSeenAt);
      all.put(
          one.name(),
          new Credential(one.name(), one.kind(), one.roles(), one.tenant(), one.queues(), seen));
    }
    return Response.ok(new Credentials(List.copyOf(all.values())));
  }
}
