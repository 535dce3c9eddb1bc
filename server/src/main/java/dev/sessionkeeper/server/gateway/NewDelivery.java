package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.GitHubEvent;
import dev.sessionkeeper.github.Ordering;
import dev.sessionkeeper.github.OrderingScope;
import dev.sessionkeeper.github.RawDelivery;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Map;

/**
 * A webhook delivery that is about to be stored.
 *
 * @param raw the delivery as it came, byte by byte
 * @param headers further headers to store
 * @param trace its unique span lets a retried transaction recognise its own row
 */
record NewDelivery(
    GitHubEvent event,
    RawDelivery raw,
    Map<String, String> headers,
    TraceContext trace,
    List<Verdict> verdicts) {
  private static final Ordering BY_ENTITY = Ordering.by(OrderingScope.ENTITY);

  /**
   * Returns the session in entity scope, by which the event is found whatever scope its bots chose.
   */
  String session() {
    return BY_ENTITY.sessionOf(event).orElseThrow().value();
  }

  /** Returns the SHA-256 of the body as it came, which are the bytes that GitHub signed. */
  byte[] digest() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(raw.body());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
