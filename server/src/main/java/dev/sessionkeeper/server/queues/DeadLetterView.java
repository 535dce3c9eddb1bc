package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.spi.DeadLetter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A dead letter. */
public record DeadLetterView(
    String id,
    String messageId,
    Optional<String> sessionId,
    long sequence,
    Optional<RawJson> body,
    Optional<String> bodyText,
    Optional<String> bodyBase64,
    String contentType,
    Map<String, String> properties,
    int attempts,
    String reason,
    String lastError,
    Instant enqueuedAt,
    Instant deadAt,
    int replays) {

  /** A page of dead letters, oldest first. */
  public record Listing(List<DeadLetterView> deadLetters, Optional<String> nextCursor) {}

  public static DeadLetterView of(DeadLetter dead) {
    var message = dead.message();
    var body = BodyView.of(message.payload());
    return new DeadLetterView(
        dead.id(),
        message.id().value(),
        message.session().map(SessionId::value),
        dead.sequence(),
        body.json(),
        body.text(),
        body.base64(),
        message.payload().contentType(),
        message.properties(),
        dead.attempts(),
        dead.reason(),
        dead.lastError(),
        dead.enqueuedAt(),
        dead.deadAt(),
        dead.replays());
  }
}
