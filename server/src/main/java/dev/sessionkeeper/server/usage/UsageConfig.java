package dev.sessionkeeper.server.usage;

import dev.sessionkeeper.registry.usage.UsageOptions;
import dev.sessionkeeper.server.config.ConfigContext;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.json.Decode;
import dev.sessionkeeper.server.json.Fields;
import dev.sessionkeeper.webhook.TargetGuard;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings of metering and delivery.
 *
 * @param endpoint if absent, batches wait
 * @param period the time for which a session of factor 1 costs 1 unit
 * @param retention how long delivered records are kept; for ever if absent
 */
public record UsageConfig(
    Optional<URI> endpoint,
    Duration interval,
    Duration period,
    Optional<Secret> secret,
    boolean allowPrivateTargets,
    Optional<Duration> retention) {
  public static final ConfigSection<UsageConfig> SECTION =
      ConfigSection.of("usage", UsageConfig::read)
          .reload("endpoint", "secret", "allow_private_targets")
          .restart("interval", "period", "retention");

  static UsageConfig read(Fields in, ConfigContext context) {
    var endpoint = in.optional("endpoint", Decode.text(2000).map(UsageConfig::url));
    var interval =
        in.optional(
            "interval",
            Duration.ofMinutes(1),
            Decode.duration(Duration.ofSeconds(1), Duration.ofDays(1)));
    var period =
        in.optional(
            "period",
            Duration.ofDays(30),
            Decode.duration(Duration.ofSeconds(1), Duration.ofDays(36_500)));
    var secret = in.optional("secret", context.secret().map(UsageConfig::checked));
    var allow = in.optional("allow_private_targets", false, Decode.bool());
    var retention =
        in.optional("retention", Decode.duration(Duration.ofDays(1), Duration.ofDays(36_500)));
    in.check();
    return new UsageConfig(
        endpoint.get(), interval.get(), period.get(), secret.get(), allow.get(), retention.get());
  }

  private static URI url(String text) {
    var url = URI.create(text);
    WebhookRequest.requireUrl(url);
    return url;
  }

  /** Refuses a secret that cannot sign. */
  private static Secret checked(Secret secret) {
    signature(secret);
    return secret;
  }

  private static WebhookSignature signature(Secret secret) {
    return WebhookSignature.of(secret.reveal());
  }

  public UsageOptions options() {
    var guard = allowPrivateTargets ? TargetGuard.allowingPrivate() : TargetGuard.publicOnly();
    var options = UsageOptions.defaults().interval(interval).guard(guard);
    var signed = secret.map(UsageConfig::signature).map(options::signature).orElse(options);
    return endpoint.map(signed::endpoint).orElse(signed);
  }
}
