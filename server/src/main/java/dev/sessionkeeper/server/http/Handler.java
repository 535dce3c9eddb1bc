package dev.sessionkeeper.server.http;

/**
 * Serves one route. Runs on a virtual thread and may block.
 *
 * <p>Exceptions become problems: a {@link ProblemException} unchanged, a {@code KeeperException} by
 * its kind, any other as an internal error without details.
 */
@FunctionalInterface
public interface Handler {
  Response handle(Request request) throws Exception;
}
