package dev.sessionkeeper.server.http;

/** Renders the refusals of pages for people. Runs on the event loop, so it must not block. */
@FunctionalInterface
public interface RefusalPage {

  /**
   * The page that tells of the problem.
   *
   * @param target the path and query that were asked for
   */
  Response render(Problem problem, Gate.Visit visit, String target, String correlationId);
}
