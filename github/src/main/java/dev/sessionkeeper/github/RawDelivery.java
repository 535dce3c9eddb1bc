package dev.sessionkeeper.github;

import java.util.Optional;

/**
 * An unchecked request at the webhook endpoint. Absent headers are empty.
 *
 * @param event {@code X-GitHub-Event}
 * @param deliveryId {@code X-GitHub-Delivery}
 * @param signature {@code X-Hub-Signature-256}
 * @param contentType {@code Content-Type}
 * @param body as received; the signature covers exactly these bytes
 */
public record RawDelivery(
    Optional<String> event,
    Optional<String> deliveryId,
    Optional<String> signature,
    Optional<String> contentType,
    byte[] body) {}
