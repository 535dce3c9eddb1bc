package dev.sessionkeeper.testkit;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import java.time.Instant;

/** Creates deliveries to test a handler without a queue. */
public final class Deliveries {
  private static final Instant ENQUEUED = Instant.parse("2026-01-01T00:00:00Z");

  private Deliveries() {}

  /** Returns the first attempt of the first message of a session. */
  public static Delivery of(String session, Payload payload) {
    return of(Message.of(SessionId.of(session), payload), 1, 1);
  }

  /** Returns a delivery with this sequence number and attempt. */
  public static Delivery of(Message message, long sequence, int attempt) {
    return new Delivery(message, sequence, attempt, ENQUEUED);
  }

  /** Returns the next attempt of the same message. */
  public static Delivery again(Delivery delivery) {
    return new Delivery(
        delivery.message(), delivery.sequence(), delivery.attempt() + 1, delivery.enqueuedAt());
  }
}
