package dev.sessionkeeper.server.registry;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.registry.PutOutcome;
import dev.sessionkeeper.registry.RegisteredSession;
import dev.sessionkeeper.registry.SessionFilter;
import dev.sessionkeeper.registry.SessionRegistry;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.Reason;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import dev.sessionkeeper.server.http.TenantFilter;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Creates or finds, shows, lists, ends and renews registered sessions. */
final class RegisteredSessionRoutes {
  private final SessionRegistry registry;
  private final Set<Integer> kinds;

  RegisteredSessionRoutes(SessionRegistry registry, Set<Integer> kinds) {
    this.registry = registry;
    this.kinds = kinds;
  }

  List<Route> routes() {
    return List.of(
        Route.put("/sessions", Role.SEND, Scope.tenant(), this::put)
            .summary(
                "Return the active session of a user on a capacity, of at least this kind; create or upgrade it if needed")
            .takes(PutRequest.class)
            .answers(200, "The session existed", RegistryItem.class)
            .answers(201, "The session was created or upgraded", RegistryItem.class)
            .problems(ProblemType.TENANT_MISMATCH),
        Route.get("/sessions", Role.READ, Scope.tenant(), this::list)
            .summary("Registered sessions, the newest first")
            .query("tenantObjectId", "Only of this tenant")
            .query("userObjectId", "Only of this user")
            .query("capacityId", "Only on this capacity")
            .query("active", "true or false")
            .query("limit", "Sessions per page, 1 to 1000")
            .query("cursor", "nextCursor of the previous page")
            .answers(200, "A page", RegistryItem.Listing.class)
            .problems(ProblemType.INVALID_CURSOR),
        Route.get("/sessions/{id}", Role.READ, Scope.tenant(), this::show)
            .summary("One registered session")
            .answers(200, "The session", RegistryItem.class)
            .problems(ProblemType.NOT_FOUND),
        Route.delete("/sessions/{id}", Role.SEND, Scope.tenant(), this::end)
            .summary("End a session now. A repeated call gets the same answer; audited")
            .header(Reason.HEADER, Reason.ABOUT)
            .answers(200, "The session, which has ended", RegistryItem.class)
            .problems(ProblemType.NOT_FOUND),
        Route.post("/sessions/{id}/renew", Role.SEND, Scope.tenant(), this::renew)
            .summary("Extend an active session to a whole lifetime from now")
            .answers(200, "The session with its new end", RegistryItem.class)
            .problems(ProblemType.NOT_FOUND, ProblemType.CONFLICT));
  }

  private Response put(Request request) {
    var wish = request.json(in -> PutRequest.read(in, kinds));
    request.reach().requireTenant(wish.tenantObjectId());
    return switch (registry.put(wish.toRegistry())) {
      case PutOutcome.Created created ->
          Response.created(RegistryItem.of(created.session(), "created"));
      case PutOutcome.Upgraded upgraded ->
          Response.created(RegistryItem.of(upgraded.session(), "upgraded"));
      case PutOutcome.Existing existing ->
          Response.ok(RegistryItem.of(existing.session(), "existing"));
      case PutOutcome.TenantMismatch tenantMismatch ->
          throw ProblemType.TENANT_MISMATCH
              .with("The user has a session on this capacity under another tenant")
              .toException();
    };
  }

  private record Wish(SessionFilter filter, Page.Request page) {
    static Wish read(Fields in) {
      var tenant = in.optional("tenantObjectId", Decode.guid());
      var user = in.optional("userObjectId", Decode.guid());
      var capacity = in.optional("capacityId", Decode.guid());
      var active = in.optional("active", Decode.bool());
      var page = Request.page(in);
      return new Wish(
          new SessionFilter(tenant.get(), user.get(), capacity.get(), active.get()), page);
    }
  }

  private Response list(Request request) {
    var wish = request.query(Wish::read);
    var page =
        switch (request.reach().tenants(wish.filter().tenantObjectId())) {
          case TenantFilter.All all -> registry.list(wish.filter(), wish.page());
          case TenantFilter.Only only ->
              registry.list(wish.filter().tenant(only.tenant()), wish.page());
          case TenantFilter.None none -> new Page<RegisteredSession>(List.of(), Optional.empty());
        };
    return Response.ok(
        new RegistryItem.Listing(
            page.items().stream().map(RegistryItem::of).toList(), page.next()));
  }

  private Response show(Request request) {
    return Response.ok(RegistryItem.of(named(request)));
  }

  private Response end(Request request) {
    var session =
        registry
            .end(named(request).sessionId(), request.actor())
            .orElseThrow(RegisteredSessionRoutes::unknown);
    return Response.ok(RegistryItem.of(session));
  }

  private Response renew(Request request) {
    var session =
        registry.renew(named(request).sessionId()).orElseThrow(RegisteredSessionRoutes::unknown);
    if (!session.isActive()) {
      throw ProblemType.CONFLICT
          .with("The session has ended; only an active one can be renewed")
          .toException();
    }
    return Response.ok(RegistryItem.of(session));
  }

  /** Returns the session named in the path; one out of the caller's reach does not exist. */
  private RegisteredSession named(Request request) {
    var reach = request.reach();
    return guid(request.parameter("id"))
        .flatMap(registry::find)
        .filter(session -> reach.includes(session.tenantObjectId()))
        .orElseThrow(RegisteredSessionRoutes::unknown);
  }

  private static Optional<UUID> guid(String text) {
    try {
      return Optional.of(Decode.parseGuid(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static RuntimeException unknown() {
    return ProblemType.NOT_FOUND.with("There is no such session").toException();
  }
}
