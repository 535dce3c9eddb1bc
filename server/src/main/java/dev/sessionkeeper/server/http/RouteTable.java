package dev.sessionkeeper.server.http;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** All routes of a server, for dispatch and for the API description. */
public final class RouteTable {
  private final List<Route> routes;
  private final Map<Shape, List<Route>> byShape;

  /** Paths of one length that begin with the same literal segment. */
  private record Shape(int length, String first) {
    static Shape of(List<String> path) {
      return new Shape(path.size(), path.isEmpty() ? "" : path.getFirst());
    }
  }

  public RouteTable(List<Route> routes) {
    // A literal segment goes before a parameter: in /usages/proof, "proof" is no usage id.
    this.routes =
        routes.stream()
            .sorted(Comparator.comparing(route -> route.path().replace('{', '\uffff')))
            .toList();
    var seen = new HashSet<String>();
    for (var route : routes) {
      if (!seen.add(route.method() + route.path().replaceAll("\\{[^}]*}", "{}"))) {
        throw new IllegalArgumentException("Two routes for " + route);
      }
    }
    this.byShape = index(this.routes);
  }

  private static Map<Shape, List<Route>> index(List<Route> sorted) {
    var index = new HashMap<Shape, List<Route>>();
    for (var route : sorted) {
      var segments = route.template().segments();
      if (!segments.isEmpty() && segments.getFirst().startsWith("{")) {
        throw new IllegalArgumentException("The first segment must be a word: " + route);
      }
      index.computeIfAbsent(Shape.of(segments), shape -> new ArrayList<>()).add(route);
    }
    return index;
  }

  public List<Route> all() {
    return routes;
  }

  /** A route and the values of its path's parameters. */
  record Match(Route route, Map<String, String> parameters) {}

  /**
   * Returns the route for this call.
   *
   * @throws ProblemException if there is none, or only for other methods
   */
  Match find(String method, List<String> path) {
    var wanted = method.equals("HEAD") ? "GET" : method;
    var allowed = new ArrayList<String>();
    for (var route : byShape.getOrDefault(Shape.of(path), List.of())) {
      var parameters = route.template().match(path);
      if (parameters.isEmpty()) {
        continue;
      }
      if (route.method().equals(wanted)) {
        return new Match(route, parameters.get());
      }
      allowed.add(route.method());
    }
    if (allowed.isEmpty()) {
      throw ProblemType.NOT_FOUND.with("Nothing is served at this path").toException();
    }
    var methods = String.join(", ", allowed);
    throw ProblemType.METHOD_NOT_ALLOWED
        .with("This path takes " + methods)
        .header("Allow", methods)
        .toException();
  }
}
