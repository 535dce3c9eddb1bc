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
 * A delivery that is about to be stored.
 *
 * @param raw as it came; its body is kept byte by byte
 * @param headers further headers worth keeping
 * @param trace with a span of its own, by which a delivery knows its row again
 */
record NewDelivery(
    GitHubEvent event,
    RawDelivery raw,
    Map<String, String> headers,
    TraceContext trace,
    List<Verdict> verdicts) {
  private static final Ordering BY_ENTITY = Ordering.by(OrderingScope.ENTITY);

  /** The session in entity scope, by which the event is found whatever its bots chose. */
  String session() {
    return BY_ENTITY.sessionOf(event).orElseThrow().value();
  }

  /** SHA-256 of the body as it came: of exactly the bytes that GitHub has signed. */
  byte[] digest() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(raw.body());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
