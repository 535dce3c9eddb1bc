package dev.sessionkeeper;

import java.time.Instant;

/**
 * One attempt to hand a message to a handler.
 *
 * @param sequence the place of the message in its queue; grows within a session
 * @param attempt 1 at first
 * @param enqueuedAt when the store took the message, by the store's clock
 */
public record Delivery(Message message, long sequence, int attempt, Instant enqueuedAt) {

  public MessageId id() {
    return message.id();
  }

  public Payload payload() {
    return message.payload();
  }
}
