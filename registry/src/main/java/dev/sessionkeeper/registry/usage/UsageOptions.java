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
 * The options of metering and delivery.
 *
 * @param endpoint if absent, batches wait
 * @param interval the length of a metering slot
 * @param tolerance how far the database's clock may run ahead of elapsed time before metering is
 *     held
 * @param timeout for one post
 * @param lease how long a node may be silent while it delivers for a tenant
 * @param parallel how many tenants are delivered to at once
 * @param retry the pause after a failed post; posts are repeated without end
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

  /**
   * Returns the defaults: no endpoint, slots of a minute, 5 s tolerance, 10 s per post, 16 tenants
   * at once.
   */
  public static UsageOptions defaults() {
    return new Draft().build();
  }

  public UsageOptions endpoint(URI url) {
    return with(draft -> draft.endpoint = Optional.of(url));
  }

  public UsageOptions signature(WebhookSignature by) {
    return with(draft -> draft.signature = Optional.of(by));
  }

  UsageOptions delivery(Optional<URI> url, Optional<WebhookSignature> by, TargetGuard allowing) {
    return with(
        draft -> {
          draft.endpoint = url;
          draft.signature = by;
          draft.guard = allowing;
        });
  }

  public UsageOptions guard(TargetGuard other) {
    return with(draft -> draft.guard = other);
  }

  public UsageOptions interval(Duration other) {
    return with(draft -> draft.interval = other);
  }

  public UsageOptions timeout(Duration other) {
    return with(draft -> draft.timeout = other);
  }

  public UsageOptions lease(Duration other) {
    return with(draft -> draft.lease = other);
  }

  public UsageOptions retry(RetryPolicy other) {
    return with(draft -> draft.retry = other);
  }

  public UsageOptions listener(Consumer<UsageEvent> other) {
    return with(draft -> draft.listener = other);
  }

  public UsageOptions owner(Owner other) {
    return with(draft -> draft.owner = other);
  }

  public UsageOptions time(TimeSource other) {
    return with(draft -> draft.time = other);
  }

  private UsageOptions with(Consumer<Draft> change) {
    var draft = new Draft(this);
    change.accept(draft);
    return draft.build();
  }

  /** The options while one of them is changed; a new draft has the defaults. */
  private static final class Draft {
    private Owner owner = Owner.ofProcess("usage");
    private Optional<URI> endpoint = Optional.empty();
    private Optional<WebhookSignature> signature = Optional.empty();
    private TargetGuard guard = TargetGuard.publicOnly();
    private Duration interval = Duration.ofMinutes(1);
    private Duration tolerance = Duration.ofSeconds(5);
    private Duration timeout = Duration.ofSeconds(10);
    private Duration lease = Duration.ofSeconds(30);
    private int parallel = 16;
    private RetryPolicy retry = RetryPolicy.endless(Duration.ofSeconds(1), Duration.ofMinutes(5));
    private int refusals = 3;
    private TimeSource time = TimeSource.system();
    private Consumer<UsageEvent> listener = event -> {};

    Draft() {}

    Draft(UsageOptions from) {
      owner = from.owner;
      endpoint = from.endpoint;
      signature = from.signature;
      guard = from.guard;
      interval = from.interval;
      tolerance = from.tolerance;
      timeout = from.timeout;
      lease = from.lease;
      parallel = from.parallel;
      retry = from.retry;
      refusals = from.refusals;
      time = from.time;
      listener = from.listener;
    }

    UsageOptions build() {
      return new UsageOptions(
          owner, endpoint, signature, guard, interval, tolerance, timeout, lease, parallel, retry,
          refusals, time, listener);
    }
  }
}
