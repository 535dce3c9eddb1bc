package dev.sessionkeeper.github;

import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * The endpoint of a pushed bot.
 *
 * @param signature signs requests; unsigned if empty
 * @param asGitHub signs requests as GitHub does; if empty, GitHub's own signature is forwarded if
 *     it still fits the body
 * @param timeout for one request and its answer
 * @param allowPrivateTargets whether the endpoint may be in a private network or on this machine
 * @param retry when a message is pushed again
 */
public record PushTarget(
    URI url,
    Optional<WebhookSignature> signature,
    Optional<GitHubSignature> asGitHub,
    Duration timeout,
    boolean allowPrivateTargets,
    RetrySchedule retry) {
  /** The default time limit of one request. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  public PushTarget {
    WebhookRequest.requireUrl(url);
  }

  public TargetGuard guard() {
    return allowPrivateTargets ? TargetGuard.allowingPrivate() : TargetGuard.publicOnly();
  }
}
