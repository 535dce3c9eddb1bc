package dev.sessionkeeper.server.http;

/** Renders the refusals of pages for people. Runs on the event loop, so it must not block. */
@FunctionalInterface
public interface RefusalPage {

  /**
   * Renders a refusal as a page.
   *
   * @param target the requested path and query
   */
  Response render(Problem problem, Gate.Visit visit, String target, String correlationId);
}
