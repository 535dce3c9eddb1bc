package dev.sessionkeeper;

import java.time.Instant;

/**
 * One attempt to hand a message to a handler.
 *
 * @param sequence the position of the message within its queue; it grows within a session
 * @param attempt the number of this attempt, from 1
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
