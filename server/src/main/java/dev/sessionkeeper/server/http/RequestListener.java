package dev.sessionkeeper.server.http;

import java.time.Duration;

/** Hears of every answered request. Runs on the event loop and must not block. */
@FunctionalInterface
public interface RequestListener {

  /**
   * A request was answered.
   *
   * @param route as in {@code GET /queues/{queue}}; {@code none} where no route was found
   */
  void answered(String route, int status, Duration took);

  static RequestListener none() {
    return (route, status, took) -> {};
  }
}
