package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.json.FieldError;
import java.util.ArrayList;
import java.util.Map;

/** Refuses what a route does not take before its body is read. */
final class CheckHead {
  private CheckHead() {}

  static void check(
      Route route,
      Map<String, String> query,
      String contentType,
      String contentEncoding,
      boolean hasBody) {
    var errors = new ArrayList<FieldError>();
    for (var name : query.keySet()) {
      if (!route.docs().takesQuery(name)) {
        errors.add(new FieldError(name, "is not a parameter of " + route));
      }
    }
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors).toException();
    }
    if (!contentEncoding.isEmpty() && !contentEncoding.equalsIgnoreCase("identity")) {
      throw ProblemType.UNSUPPORTED_MEDIA_TYPE
          .with("Bodies are taken as they are, without Content-Encoding")
          .header("Accept-Encoding", "identity")
          .toException();
    }
    if (hasBody && takesJson(route) && !Request.isJson(contentType)) {
      throw ProblemType.UNSUPPORTED_MEDIA_TYPE
          .with("This path takes application/json in UTF-8")
          .header("Accept-Post", "application/json")
          .toException();
    }
  }

  private static boolean takesJson(Route route) {
    return route
        .docs()
        .request()
        .map(body -> body.mediaType().equals("application/json"))
        .orElse(true);
  }
}
