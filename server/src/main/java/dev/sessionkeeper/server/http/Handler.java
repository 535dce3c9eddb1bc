package dev.sessionkeeper.server.http;

/**
 * Serves one route. Runs on a virtual thread and may block.
 *
 * <p>What it throws becomes a problem: a {@link ProblemException} as it is, a {@code
 * KeeperException} by its kind, anything else as an internal error that shows nothing of the
 * inside.
 */
@FunctionalInterface
public interface Handler {
  Response handle(Request request) throws Exception;
}
