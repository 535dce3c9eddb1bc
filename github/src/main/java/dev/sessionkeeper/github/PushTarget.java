package dev.sessionkeeper.github;

import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * Where a bot is served by push.
 *
 * @param signature with which requests are signed; unsigned where it is empty
 * @param asGitHub with which requests are signed as GitHub does; where it is empty GitHub's own
 *     signature is forwarded if it is still that of the body
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
  /** Time for one request where nothing else is said. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  public PushTarget {
    WebhookRequest.requireUrl(url);
  }

  public TargetGuard guard() {
    return allowPrivateTargets ? TargetGuard.allowingPrivate() : TargetGuard.publicOnly();
  }
}
