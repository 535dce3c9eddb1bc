package dev.sessionkeeper.server.http;

import java.util.Optional;

/**
 * The most bytes of a request's body.
 *
 * @param takesBody false when the route reads no body; an empty object is tolerated there
 */
record BodyLimit(boolean takesBody, long most) {
  /** Enough for an empty JSON object with some space in it. */
  private static final long EMPTY_OBJECT = 64;

  static BodyLimit of(Route route) {
    return route.docs().request().isPresent()
        ? new BodyLimit(true, route.maxBody())
        : new BodyLimit(false, EMPTY_OBJECT);
  }

  /** The limit of a request that no route takes; its body is only dropped. */
  static BodyLimit none() {
    return new BodyLimit(true, 0);
  }

  /** The problem of a body with so many bytes; empty when it fits. */
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
