package dev.sessionkeeper.server.http;

/**
 * Ends the handling of a request with a problem. An answer, not a failure: it has no stack trace.
 */
public final class ProblemException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final transient Problem problem;

  ProblemException(Problem problem) {
    super(problem.type().slug() + ": " + problem.detail(), null, false, false);
    this.problem = problem;
  }

  public Problem problem() {
    return problem;
  }
}
