package dev.sessionkeeper.server.http;

import dev.sessionkeeper.QueueName;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a caller may use a route, by the role and scope that the route declares. This
 * class alone decides; it runs before the handler.
 */
final class CheckAccess {
  private CheckAccess() {}

  /**
   * Returns normally if the caller may use the route.
   *
   * @throws ProblemException 403 for a missing role and for server-wide routes; 404 for objects
   *     that the caller must not know of
   */
  static void check(
      Route route, Map<String, String> parameters, Map<String, String> query, Caller caller) {
    requireRole(caller, route.role(), "This");
    for (var parameter : route.docs().query()) {
      if (query.containsKey(parameter.name())) {
        requireRole(caller, parameter.role(), "The parameter " + parameter.name());
      }
    }
    requireScope(route, parameters, caller.reach());
  }

  private static void requireRole(Caller caller, Role role, String what) {
    if (!caller.has(role)) {
      throw ProblemType.FORBIDDEN.with(what + " needs the role " + role.key()).toException();
    }
  }

  private static void requireScope(Route route, Map<String, String> parameters, Reach reach) {
    switch (route.scope()) {
      case Scope.Public open -> {}
      case Scope.Queue queue ->
          requireQueue(reach, String.valueOf(parameters.get(queue.parameter())));
      case Scope.Queues queues -> {} // A list filtered to no rows reveals nothing.
      case Scope.Tenant tenant -> requireTenants(route, reach);
      case Scope.Stream stream -> requireStream(reach, String.valueOf(parameters.get("stream")));
      case Scope.Streams streams -> requireVisible(reach, parameters.get("stream"));
      case Scope.Server server -> requireServer(reach, server.subject());
    }
  }

  private static void requireQueue(Reach reach, String name) {
    boolean visible;
    try {
      visible = reach.includes(QueueName.of(name));
    } catch (IllegalArgumentException e) {
      visible =
          reach
              .isEverything(); // No queue can have this name; the route's own error says so better.
    }
    if (!visible) {
      throw ProblemType.UNKNOWN_QUEUE.with("There is no queue " + name).toException();
    }
  }

  private static void requireTenants(Route route, Reach reach) {
    if (!(reach.tenants() instanceof TenantFilter.None)) {
      return;
    }
    throw route.template().parameters().isEmpty()
        ? ProblemType.FORBIDDEN
            .with(
                "This credential is bound to queues; data of a tenant needs a credential of that tenant")
            .toException()
        : ProblemType.NOT_FOUND.with("There is no such object").toException();
  }

  private static void requireStream(Reach reach, String name) {
    if (!reach.includesStream(name)) {
      throw ProblemType.NOT_FOUND.with("There is no such stream").toException();
    }
  }

  /**
   * A list filtered to no rows reveals nothing; a stream without a visible row does not exist for
   * the caller.
   */
  private static void requireVisible(Reach reach, @Nullable String name) {
    if (name != null && !reach.includesEventsOf(name)) {
      requireStream(reach, name);
    }
  }

  private static void requireServer(Reach reach, String subject) {
    if (!reach.isEverything()) {
      throw ProblemType.FORBIDDEN
          .with(
              subject
                  + " belong to the whole server; this credential is bound to a tenant or to queues")
          .toException();
    }
  }
}
