package dev.sessionkeeper.server.activity;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.util.List;

/** Shows when each credential was used last: an unused one can go. */
public final class ActivityRoutes {
  private final LastSeen lastSeen;

  public ActivityRoutes(LastSeen lastSeen) {
    this.lastSeen = lastSeen;
  }

  /** Credentials that were ever used, by name. */
  record Credentials(List<LastSeen.Sight> credentials) {}

  public List<Route> routes() {
    return List.of(
        Route.get("/credentials", Role.OPERATE, Scope.server("Credentials"), this::credentials)
            .summary("When each credential was used last, to the second")
            .answers(200, "Those that were ever used", Credentials.class));
  }

  private Response credentials(Request request) {
    return Response.ok(new Credentials(lastSeen.list(RememberCallers.CREDENTIAL)));
  }
}
