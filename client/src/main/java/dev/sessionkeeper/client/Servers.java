package dev.sessionkeeper.client;

import java.net.URI;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Servers that share one store; a client uses one of them until it does not answer.
 *
 * <p>Each client begins at another server, so that many clients spread; and it stays there, because
 * some providers keep a lease in the server that granted it. Safe for many threads.
 */
final class Servers {
  private final List<URI> all;
  private final AtomicInteger turn;

  Servers(List<URI> all) {
    if (all.isEmpty()) {
      throw new IllegalArgumentException("servers must be at least 1 address, was none");
    }
    all.forEach(Servers::check);
    this.all = List.copyOf(all);
    this.turn = new AtomicInteger(ThreadLocalRandom.current().nextInt(all.size()));
  }

  private static void check(URI server) {
    if (server.getScheme() == null || !server.getScheme().matches("https?")) {
      throw new IllegalArgumentException(
          "A server's address begins with http:// or https://, was " + server);
    }
  }

  List<URI> all() {
    return all;
  }

  int count() {
    return all.size();
  }

  /** Returns the current turn; each turn belongs to one server, in rotation. */
  int turn() {
    return turn.get();
  }

  URI at(int ofTurn) {
    return all.get(Math.floorMod(ofTurn, all.size()));
  }

  /** Records that the server of this turn did not answer; later calls begin with the next one. */
  void leave(int failedTurn) {
    turn.compareAndSet(failedTurn, failedTurn + 1);
  }
}
