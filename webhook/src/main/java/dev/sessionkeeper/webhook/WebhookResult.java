package dev.sessionkeeper.webhook;

import java.time.Duration;
import java.util.Optional;

/** The result of a post. */
public sealed interface WebhookResult {
  /** The receiver accepted the request. */
  record Delivered(int status) implements WebhookResult {}

  /**
   * The receiver refused the request. A redirect counts as a refusal and is not followed.
   *
   * @param retryAfter how long the receiver asks to wait, at most a day
   * @param answer the beginning of its answer, for operators
   */
  record Refused(int status, Optional<Duration> retryAfter, String answer)
      implements WebhookResult {}

  /**
   * No answer arrived. The receiver may have handled the request, and recognises a repetition by
   * its id.
   */
  record Unreachable(String reason) implements WebhookResult {}

  /** Nothing was sent, because the target is not allowed. Trying again does not help. */
  record Forbidden(String reason) implements WebhookResult {}
}
