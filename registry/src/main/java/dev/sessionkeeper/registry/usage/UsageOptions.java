package dev.sessionkeeper.registry.usage;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How usage is metered and where it goes.
 *
 * @param endpoint without it batches wait
 * @param interval the slots of metering
 * @param tolerance how far the database's clock may run ahead of time before metering is held
 * @param timeout for one post
 * @param lease for how long a node may be silent in the middle of a tenant's deliveries
 * @param parallel how many tenants are delivered to at once
 * @param retry the pause after a failed post; posts are repeated for as long as it takes
 * @param refusals after how many refusals a batch is set aside
 */
public record UsageOptions(
    Owner owner,
    Optional<URI> endpoint,
    Optional<WebhookSignature> signature,
    TargetGuard guard,
    Duration interval,
    Duration tolerance,
    Duration timeout,
    Duration lease,
    int parallel,
    RetryPolicy retry,
    int refusals,
    TimeSource time,
    Consumer<UsageEvent> listener) {
  public UsageOptions {
    endpoint.ifPresent(WebhookRequest::requireUrl);
    if (interval.compareTo(Duration.ofSeconds(1)) < 0
        || interval.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException("interval must be 1 second to 1 day, was " + interval);
    }
    if (timeout.compareTo(lease.dividedBy(2)) > 0) {
      throw new IllegalArgumentException(
          "timeout must be at most half of the lease of " + lease + ", was " + timeout);
    }
    if (parallel < 1) {
      throw new IllegalArgumentException("parallel must be at least 1, was " + parallel);
    }
  }

  /** No endpoint, every minute, 5 s tolerance, 10 s per post, 16 tenants at once. */
  public static UsageOptions defaults() {
    return new UsageOptions(
        Owner.ofProcess("usage"),
        Optional.empty(),
        Optional.empty(),
        TargetGuard.publicOnly(),
        Duration.ofMinutes(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        16,
        RetryPolicy.endless(Duration.ofSeconds(1), Duration.ofMinutes(5)),
        3,
        TimeSource.system(),
        event -> {});
  }

  public UsageOptions endpoint(URI url) {
    return new UsageOptions(
        owner,
        Optional.of(url),
        signature,
        guard,
        interval,
        tolerance,
        timeout,
        lease,
        parallel,
        retry,
        refusals,
        time,
        listener);
  }

  public UsageOptions signature(WebhookSignature by) {
    return new UsageOptions(
        owner,
        endpoint,
        Optional.of(by),
        guard,
        interval,
        tolerance,
        timeout,
        lease,
        parallel,
        retry,
        refusals,
        time,
        listener);
  }

  UsageOptions delivery(Optional<URI> url, Optional<WebhookSignature> by, TargetGuard allowing) {
    return new UsageOptions(
        owner, url, by, allowing, interval, tolerance, timeout, lease, parallel, retry, refusals,
        time, listener);
  }

  public UsageOptions guard(TargetGuard other) {
    return new UsageOptions(
        owner, endpoint, signature, other, interval, tolerance, timeout, lease, parallel, retry,
        refusals, time, listener);
  }

  public UsageOptions interval(Duration other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, other, tolerance, timeout, lease, parallel, retry,
        refusals, time, listener);
  }

  public UsageOptions timeout(Duration other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, interval, tolerance, other, lease, parallel, retry,
        refusals, time, listener);
  }

  public UsageOptions lease(Duration other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, interval, tolerance, timeout, other, parallel, retry,
        refusals, time, listener);
  }

  public UsageOptions retry(RetryPolicy other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, interval, tolerance, timeout, lease, parallel, other,
        refusals, time, listener);
  }

  public UsageOptions listener(Consumer<UsageEvent> other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, interval, tolerance, timeout, lease, parallel, retry,
        refusals, time, other);
  }

  public UsageOptions owner(Owner other) {
    return new UsageOptions(
        other, endpoint, signature, guard, interval, tolerance, timeout, lease, parallel, retry,
        refusals, time, listener);
  }

  public UsageOptions time(TimeSource other) {
    return new UsageOptions(
        owner, endpoint, signature, guard, interval, tolerance, timeout, lease, parallel, retry,
        refusals, other, listener);
  }
}
