package dev.sessionkeeper.server.http;

import java.util.Map;

/**
 * Finds out who the caller of a request is. {@link CheckAccess} then decides whether the route is
 * open to that caller. Runs on the event loop before the body is read, so it must not block.
 */
@FunctionalInterface
public interface Gate {

  /**
   * Returns the caller of the request.
   *
   * @throws ProblemException 401, 403, 421 or 429
   */
  Caller admit(Visit visit);

  /**
   * Judges a running request once more, without counting it again. Runs on any thread.
   *
   * @throws ProblemException as {@link #admit}
   */
  default Caller admitAgain(Visit visit) {
    return admit(visit);
  }

  /** Returns a gate that treats every caller as {@link Caller#LOCAL}. */
  static Gate open() {
    return visit -> Caller.LOCAL;
  }

  /** The parts of a request that the gate checks. */
  interface Visit {
    Route route();

    /** Returns the parameters of the path. */
    Map<String, String> parameters();

    /** Returns a request header; blank if absent. */
    String header(String name);

    /** Returns a query parameter; blank if absent. */
    default String query(String name) {
      return "";
    }

    /** Returns the address that the connection came from, whatever the headers say. */
    String source();

    /** Returns the subject of the client's certificate; blank without one. */
    String certificateSubject();
  }
}
