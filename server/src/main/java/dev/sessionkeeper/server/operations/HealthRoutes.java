package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Serves liveness and readiness. */
public final class HealthRoutes {
  private final Map<String, Supplier<Optional<String>>> checks;
  private final Map<String, Supplier<Optional<String>>> degradations;

  /**
   * Creates the routes.
   *
   * @param checks each returns why the server is not ready
   * @param degradations each returns why a part does not work; the server stays ready
   */
  public HealthRoutes(
      Map<String, Supplier<Optional<String>>> checks,
      Map<String, Supplier<Optional<String>>> degradations) {
    this.checks = new LinkedHashMap<>(checks);
    this.degradations = new LinkedHashMap<>(degradations);
  }

  /**
   * The result of the health checks.
   *
   * @param status {@code up} or {@code down}
   * @param checks {@code up}, or the trouble of a part; the server can be up while a part is not
   */
  record Health(String status, Map<String, String> checks) {}

  public List<Route> routes() {
    return List.of(
        Route.get("/health/live", Role.ANYONE, Scope.open(), this::live)
            .summary("Whether the process is alive; checks nothing else")
            .answers(200, "It lives", Health.class),
        Route.get("/health/ready", Role.ANYONE, Scope.open(), this::ready)
            .summary(
                "Whether it should get requests: the store answers and takes writes, the server is"
                    + " not draining. Queues in a cloud that is away are named but do not count")
            .answers(200, "Ready", Health.class)
            .answers(503, "Not now; the checks say why", Health.class));
  }

  private Response live(Request request) {
    return Response.ok(new Health("up", Map.of()));
  }

  private Response ready(Request request) {
    var results = new LinkedHashMap<String, String>();
    boolean up = true;
    for (var check : checks.entrySet()) {
      var reason = check.getValue().get();
      up &= reason.isEmpty();
      results.put(check.getKey(), reason.orElse("up"));
    }
    degradations.forEach(
        (name, degradation) -> degradation.get().ifPresent(reason -> results.put(name, reason)));
    return Response.json(up ? 200 : 503, new Health(up ? "up" : "down", results));
  }
}
