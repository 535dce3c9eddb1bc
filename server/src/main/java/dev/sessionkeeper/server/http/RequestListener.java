package dev.sessionkeeper.server.http;

import dev.sessionkeeper.store.Actor;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** Is called for every request. Must not block. */
@FunctionalInterface
public interface RequestListener {

  /**
   * A request was answered.
   *
   * @param route as in {@code GET /queues/{queue}}; {@code none} where no route was found
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
   * A request is about to be handled, on this thread.
   *
   * @param header gives a request header; blank when it is absent
   */
  default Handling handling(String route, UnaryOperator<String> header) {
    return status -> {};
  }

  /** Is called when the handler has ended, on the same thread. */
  @FunctionalInterface
  interface Handling {
    void ended(int status);
  }

  static RequestListener none() {
    return (route, status, took) -> {};
  }
}
