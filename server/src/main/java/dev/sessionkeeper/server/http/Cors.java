package dev.sessionkeeper.server.http;

import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Lets pages of listed origins call the API: answers their preflight requests and marks the answers
 * that they may read. Callers show a credential in a header, so cookies are never allowed. Runs on
 * the event loop.
 */
final class Cors {
  private static final String HEADERS =
      "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Correlation-Id,"
          + " traceparent";
  private static final String READABLE = "ETag, Retry-After, X-Correlation-Id";
  private static final String MAX_AGE_SECONDS = "600";

  private final Supplier<Set<String>> origins;

  Cors(Supplier<Set<String>> origins) {
    this.origins = origins;
  }

  /** Returns whether pages of this origin may call. */
  boolean allows(String origin) {
    return origins.get().contains(origin);
  }

  /** Marks the answer for a listed origin; returns whether the request was a preflight. */
  boolean mark(HttpServerRequest request) {
    var origin = request.getHeader("Origin");
    if (origin == null || !allows(origin)) {
      return false;
    }
    var response = request.response();
    response.putHeader("Access-Control-Allow-Origin", origin);
    response.putHeader("Vary", "Origin");
    response.putHeader("Access-Control-Expose-Headers", READABLE);
    if (!request.method().equals(HttpMethod.OPTIONS)
        || request.getHeader("Access-Control-Request-Method") == null
        || !isBare(request)) {
      return false;
    }
    response.putHeader("Access-Control-Allow-Methods", "GET, PUT, POST, DELETE");
    response.putHeader("Access-Control-Allow-Headers", HEADERS);
    response.putHeader("Access-Control-Max-Age", MAX_AGE_SECONDS);
    response.setStatusCode(204).end();
    return true;
  }

  /** A browser's preflight has no body; any other request is judged by the usual rules. */
  private static boolean isBare(HttpServerRequest request) {
    try {
      CheckHead.framing(request.version(), request.headers());
    } catch (ProblemException e) {
      return false;
    }
    return !request.headers().contains("Transfer-Encoding")
        && request.headers().getAll("Content-Length").stream().allMatch("0"::equals);
  }
}
