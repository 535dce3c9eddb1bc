package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookResult;
import dev.sessionkeeper.webhook.WebhookSender;
import java.net.URI;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Set;

/** Posts the bytes of a batch unchanged, and interprets the answer. */
final class PostBatch {
  /** Statuses by which the receiver refuses a batch for good. */
  private static final Set<Integer> FOR_GOOD = Set.of(400, 409, 413, 415, 422);

  private final WebhookSender sender;
  private final URI endpoint;
  private final UsageOptions options;

  PostBatch(WebhookSender sender, URI endpoint, UsageOptions options) {
    this.sender = sender;
    this.endpoint = endpoint;
    this.options = options;
  }

  /** The result of one post. */
  sealed interface Answer {
    record Taken() implements Answer {}

    /** The batch must be sent again, not before the wait. */
    record Later(String reason, Duration atLeast) implements Answer {}

    record Refused(String reason) implements Answer {}
  }

  Answer post(DeliveryLeases.Outgoing batch) {
    var request =
        WebhookRequest.json(endpoint, batch.id().toString(), batch.body())
            .withHeaders(
                Map.of(
                    "Idempotency-Key",
                    batch.id().toString(),
                    "Content-Digest",
                    "sha-256=:" + Base64.getEncoder().encodeToString(batch.sha256()) + ":",
                    "Keeper-Sequence",
                    Long.toString(batch.number())))
            .within(options.timeout())
            .guardedBy(options.guard());
    var signed = options.signature().map(request::signedWith).orElse(request);
    return switch (sender.post(signed)) {
      case WebhookResult.Delivered taken -> new Answer.Taken();
      case WebhookResult.Unreachable silent -> new Answer.Later(silent.reason(), Duration.ZERO);
      case WebhookResult.Forbidden target -> new Answer.Later(target.reason(), Duration.ZERO);
      case WebhookResult.Refused refused -> {
        var text = refused.answer();
        var reason = "answered " + refused.status() + (text.isBlank() ? "" : ": " + text);
        yield FOR_GOOD.contains(refused.status())
            ? new Answer.Refused(reason)
            : new Answer.Later(reason, refused.retryAfter().orElse(Duration.ZERO));
      }
    };
  }
}
