package dev.sessionkeeper.server;

import dev.sessionkeeper.server.http.Route;
import java.util.List;
import java.util.Optional;

/**
 * A part of the server: some routes and whatever runs behind them. It has begun when its
 * constructor returns; {@link KeeperServer} closes features in reverse order when it has served the
 * last request.
 */
public interface Feature extends AutoCloseable {

  /** What it serves. Asked once. */
  List<Route> routes();

  /** Why the server should not get requests now; empty when all is well. Asked often. */
  Optional<String> notReady();

  @Override
  void close();
}
