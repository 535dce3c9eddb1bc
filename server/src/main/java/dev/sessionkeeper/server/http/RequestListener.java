package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** Receives events of every request. Must not block. */
@FunctionalInterface
public interface RequestListener {

  /**
   * A request was answered.
   *
   * @param route as in {@code GET /queues/{queue}}; {@code none} if no route matched
   */
  void answered(String route, int status, Duration took);

  /**
   * A request was refused for want of a credential or of a right.
   *
   * @param route as in {@link #answered}
   * @param status 401 or 403
   */
  default void refused(Actor actor, String route, int status) {}

  /**
   * A handler is about to run on this thread.
   *
   * @param header returns a request header; blank if absent
   */
  default Handling handling(String route, UnaryOperator<String> header) {
    return status -> {};
  }

  /** Runs on the same thread after the handler has ended. */
  @FunctionalInterface
  interface Handling {
    void ended(int status);
  }

  static RequestListener none() {
    return (route, status, took) -> {};
  }
}
