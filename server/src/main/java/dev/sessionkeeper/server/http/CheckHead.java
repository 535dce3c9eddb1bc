package dev.sessionkeeper.server.http;

import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.FieldError;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpVersion;
import java.util.ArrayList;
import java.util.Map;

/** Refuses requests by their head, before the body is read. */
final class CheckHead {
  private CheckHead() {}

  /**
   * Refuses a head that two servers could interpret differently: where the body ends, or which host
   * is addressed.
   */
  static void framing(HttpVersion version, MultiMap headers) {
    var encodings = headers.getAll("Transfer-Encoding");
    if (!encodings.isEmpty()
        && !(encodings.size() == 1 && encodings.get(0).equalsIgnoreCase("chunked"))) {
      throw malformed("The only Transfer-Encoding that is taken is chunked, named once");
    }
    if (!encodings.isEmpty() && headers.contains("Content-Length")) {
      throw malformed("A request has a Content-Length or a Transfer-Encoding, not both");
    }
    int hosts = headers.getAll("Host").size();
    if (hosts > 1 || (hosts == 0 && version == HttpVersion.HTTP_1_1)) {
      throw malformed("A request names one Host, this one names " + hosts);
    }
    if (hosts == 1 && version == HttpVersion.HTTP_1_1 && headers.get("Host").isEmpty()) {
      throw malformed("A request names its Host");
    }
  }

  private static ProblemException malformed(String detail) {
    return ProblemType.MALFORMED_HTTP.with(detail).toException();
  }

  static void check(
      Route route,
      Map<String, String> query,
      String contentType,
      String contentEncoding,
      boolean hasBody) {
    var errors = new ArrayList<FieldError>();
    for (var name : query.keySet()) {
      if (!route.docs().takesQuery(name)) {
        errors.add(new FieldError(Decode.shown(name), "is not a parameter of " + route));
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
        .orElse(false);
  }
}
