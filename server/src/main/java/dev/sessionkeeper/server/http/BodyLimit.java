package dev.sessionkeeper.server.http;

import java.util.Optional;

/**
 * The most bytes of a request's body.
 *
 * @param takesBody false when the route reads no body; an empty object is tolerated there
 */
record BodyLimit(boolean takesBody, long most) {
  /** Enough for an empty JSON object and some white space. */
  private static final long EMPTY_OBJECT = 64;

  static BodyLimit of(Route route) {
    return route.docs().request().isPresent()
        ? new BodyLimit(true, route.maxBody())
        : new BodyLimit(false, EMPTY_OBJECT);
  }

  /** Returns the limit of a request that matches no route; its body is dropped. */
  static BodyLimit none() {
    return new BodyLimit(true, 0);
  }

  /** Returns the problem of a body with so many bytes; empty if the body fits. */
  Optional<Problem> refuse(long bytes) {
    if (bytes <= most) {
      return Optional.empty();
    }
    var detail =
        takesBody
            ? "The body of this request may have " + most + " bytes"
            : "This path takes no body; leave it out";
    return Optional.of(
        ProblemType.TOO_LARGE
            .with(detail)
            .and("limit", "maxRequestBytes")
            .and("allowed", takesBody ? most : 0)
            .and("actual", bytes));
  }
}
