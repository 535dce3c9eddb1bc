package dev.sessionkeeper.server.http;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Calls routes of the API inside a request, for the same caller. The role and scope of the called
 * route are checked as if the call had come over the network, so a page can show and do no more
 * than the API allows its reader.
 */
public final class CallApi {
  private final Supplier<RouteTable> routes;

  public CallApi(Supplier<RouteTable> routes) {
    this.routes = routes;
  }

  /**
   * Calls a route and returns its JSON.
   *
   * @param path the decoded segments
   * @param body JSON; empty for none
   * @throws ProblemException as the route refuses
   * @throws Exception as the handler of the route fails
   */
  public byte[] call(
      Request within, String method, List<String> path, Map<String, String> query, byte[] body)
      throws Exception {
    var response = answer(within, method, path, query, body);
    return switch (response.body()) {
      case Response.Body.Bytes bytes -> bytes.whole();
      case Response.Body.Streamed stream ->
          throw new IllegalArgumentException(path + " streams its answer");
    };
  }

  /**
   * Calls a route and returns its whole response, which may be a stream.
   *
   * @throws Exception as {@link #call}
   */
  public Response answer(
      Request within, String method, List<String> path, Map<String, String> query, byte[] body)
      throws Exception {
    within.reach(); // Each called route filters its rows by the caller's reach.
    var match = routes.get().find(method, path);
    var route = match.route();
    CheckAccess.check(route, match.parameters(), query, within.caller());
    CheckHead.check(route, query, "application/json", "", body.length > 0);
    var call = within.within(match, query, body);
    var response = route.handler().handle(call);
    call.requireReachWasAsked();
    return response;
  }

  /** Returns whether the server has this route. */
  public boolean has(String method, String path) {
    return routes.get().all().stream()
        .anyMatch(route -> route.method().equals(method) && route.path().equals(path));
  }
}
