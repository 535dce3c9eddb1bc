package dev.sessionkeeper.server.http;

import java.util.Map;

/**
 * Finds out who the caller of a request is. {@link CheckAccess} then decides whether the route is
 * open to that caller. Runs on the event loop before the body is read, so it must not block.
 */
@FunctionalInterface
public interface Gate {

  /**
   * Lets the request in.
   *
   * @throws ProblemException 401, 403, 421 or 429
   */
  Caller admit(Visit visit);

  /**
   * Judges a request once more that was let in before and still runs, without counting it as
   * another one. Runs on any thread.
   *
   * @throws ProblemException as {@link #admit}
   */
  default Caller admitAgain(Visit visit) {
    return admit(visit);
  }

  /** Lets every caller in as {@link Caller#LOCAL}. */
  static Gate open() {
    return visit -> Caller.LOCAL;
  }

  /** The parts of a request that the gate checks. */
  interface Visit {
    Route route();

    /** The parameters of the path. */
    Map<String, String> parameters();

    /** A request header; blank when it is absent. */
    String header(String name);

    /** A query parameter; blank when it is absent. */
    default String query(String name) {
      return "";
    }

    /** The address that the connection came from, whatever the headers say. */
    String source();

    /** The subject of the client's certificate; blank without one. */
    String certificateSubject();
  }
}
