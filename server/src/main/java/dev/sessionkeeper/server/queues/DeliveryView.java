package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.server.json.RawJson;
import dev.sessionkeeper.spi.MessageSource;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One delivery; of the three payload fields, only the one that was sent is present. */
record DeliveryView(
    long sequence,
    String messageId,
    Optional<String> sessionId,
    Optional<RawJson> body,
    Optional<String> bodyText,
    Optional<String> bodyBase64,
    String contentType,
    Map<String, String> properties,
    int attempt,
    Instant enqueuedAt,
    Optional<String> receipt,
    Optional<Instant> lockedUntil) {

  /** The deliveries of one receive, in order. */
  record Batch(List<DeliveryView> messages) {}

  static DeliveryView of(Delivery delivery) {
    return of(delivery, Optional.empty(), Optional.empty());
  }

  static DeliveryView of(MessageSource.Receipted receipted, String receipt) {
    return of(receipted.delivery(), Optional.of(receipt), Optional.of(receipted.lockedUntil()));
  }

  private static DeliveryView of(
      Delivery delivery, Optional<String> receipt, Optional<Instant> lockedUntil) {
    var body = BodyView.of(delivery.payload());
    return new DeliveryView(
        delivery.sequence(),
        delivery.id().value(),
        delivery.message().session().map(SessionId::value),
        body.json(),
        body.text(),
        body.base64(),
        delivery.payload().contentType(),
        delivery.message().properties(),
        delivery.attempt(),
        delivery.enqueuedAt(),
        receipt,
        lockedUntil);
  }
}
