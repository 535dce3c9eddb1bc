package dev.sessionkeeper.github;

import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.webhook.WebhookRequest;
import dev.sessionkeeper.webhook.WebhookSignature;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Creates one bot from its configured values. */
final class BindBot {
  private static final List<String> DELIVER =
      List.of("url", "secret", "github_secret", "timeout", "allow_private_targets");

  private final UnaryOperator<String> secrets;

  BindBot(UnaryOperator<String> secrets) {
    this.secrets = secrets;
  }

  /** Returns the bot; empty if its name or its limits are invalid, which is then recorded. */
  Optional<Bot> bind(BotValues values) {
    var name = queueName(values, BotKey.NAME);
    if (name.isEmpty() && !values.has(BotKey.NAME)) {
      values.note(values.path(), "needs a name");
    }
    var ordering = ordering(values);
    var subscription = subscription(values);
    var limits = limits(values);
    var settings = queueSettings(values, ordering);
    var format = values.choice(BotKey.FORMAT, List.of(MessageFormat.values()));
    var deliver = deliver(values);
    var queue = queueName(values, BotKey.QUEUE);
    if (name.isEmpty() || limits.isEmpty() || subscription.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Bot(
            name.get().value(),
            queue.orElse(name.get()),
            subscription.get(),
            ordering,
            limits.get(),
            settings,
            format,
            deliver));
  }

  private static Optional<QueueName> queueName(BotValues values, BotKey key) {
    var text = values.text(key);
    try {
      return text.map(QueueName::of);
    } catch (IllegalArgumentException e) {
      values.note(
          values.pathOf(key.key()),
          "must be 1 to 80 " + key.allowed() + ", was " + BotValues.shown(text.orElse("")));
      return Optional.empty();
    }
  }

  private static Ordering ordering(BotValues values) {
    var scope = values.choice(BotKey.ORDERING_SCOPE, List.of(OrderingScope.values()));
    var key = values.choice(BotKey.SESSION_KEY, List.of(SessionKey.values()));
    return new Ordering(scope, key, values.flag(BotKey.JOIN_CHECKS));
  }

  private static Optional<Subscription> subscription(BotValues values) {
    var events =
        values
            .list(BotKey.EVENTS, EventPattern::parse)
            .orElseGet(() -> List.of(EventPattern.parse("*")));
    var repositories = values.list(BotKey.REPOSITORIES, RepositoryPattern::parse);
    if (events.isEmpty() || repositories.filter(List::isEmpty).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(new Subscription(events, repositories));
  }

  private static Optional<SessionLimits> limits(BotValues values) {
    int sessions = values.number(BotKey.MAX_CONCURRENT_SESSIONS, 1, 10_000);
    int depth = values.number(BotKey.QUEUE_DEPTH_THRESHOLD, 1, 1_000_000_000);
    int size = values.number(BotKey.MAX_SIZE_IN_MEGABYTES, 1, 1_000_000);
    var idle =
        values.duration(BotKey.SESSION_IDLE_TIMEOUT, Duration.ofMillis(100), Duration.ofHours(24));
    var most =
        values.duration(BotKey.SESSION_MAX_DURATION, Duration.ofSeconds(1), Duration.ofDays(7));
    if (idle.compareTo(most) > 0) {
      values.note(
          values.pathOf(BotKey.SESSION_IDLE_TIMEOUT.key()),
          "must not be longer than session_max_duration (" + most + "), was " + idle);
      return Optional.empty();
    }
    return Optional.of(new SessionLimits(sessions, idle, most, depth, size));
  }

  private static QueueSettings queueSettings(BotValues values, Ordering ordering) {
    boolean ordered = ordering.scope() != OrderingScope.NONE;
    if (values.has(BotKey.SESSIONS_ENABLED) && values.flag(BotKey.SESSIONS_ENABLED) != ordered) {
      values.note(
          values.pathOf(BotKey.SESSIONS_ENABLED.key()),
          "must be " + ordered + " with this ordering_scope, was " + !ordered);
    }
    var window = values.setting(BotKey.DUPLICATE_DETECTION_WINDOW, QueueSetting.DUPLICATE_WINDOW);
    var policies = List.of(PoisonPolicy.DEAD_LETTER, PoisonPolicy.PARK_SESSION, PoisonPolicy.BLOCK);
    return new QueueSettings(
        ordering.mode(),
        values.setting(BotKey.MAX_DELIVERY_COUNT, QueueSetting.MAX_DELIVERY_COUNT),
        values.setting(BotKey.SESSION_TIMEOUT, QueueSetting.LOCK_DURATION),
        values.setting(BotKey.DEFAULT_MESSAGE_TTL, QueueSetting.MESSAGE_TTL),
        values.flag(BotKey.DUPLICATE_DETECTION_ENABLED) ? window : Duration.ZERO,
        values.choice(BotKey.ON_POISON, policies));
  }

  private Optional<PushTarget> deliver(BotValues values) {
    var given = values.get(BotKey.DELIVER.key());
    var retry = new BindRetry(values).bind();
    if (given.isEmpty()) {
      if (values.has(BotKey.RETRY)) {
        values.note(
            values.pathOf(BotKey.RETRY.key()),
            "needs deliver: a bot that pulls decides itself when it tries again");
      }
      return Optional.empty();
    }
    var path = values.pathOf(BotKey.DELIVER.key());
    if (!(given.get() instanceof Map<?, ?> map)) {
      values.note(path, "must have " + BotKey.DELIVER.allowed());
      return Optional.empty();
    }
    var deliver = values.inside(path);
    deliver.add(path, map, DELIVER);
    var timeout =
        deliver
            .duration("timeout", "100ms to 10m", Duration.ofMillis(100), Duration.ofMinutes(10))
            .orElse(PushTarget.DEFAULT_TIMEOUT);
    boolean privately = deliver.flag("allow_private_targets").orElse(false);
    var signature = signature(deliver);
    var asGitHub = asGitHub(deliver);
    return url(deliver)
        .map(url -> new PushTarget(url, signature, asGitHub, timeout, privately, retry));
  }

  private Optional<GitHubSignature> asGitHub(BotValues deliver) {
    try {
      return deliver
          .text("github_secret", "env:NAME or file:PATH")
          .map(reference -> GitHubSignature.of(List.of(secrets.apply(reference))));
    } catch (IllegalArgumentException e) {
      deliver.note(deliver.pathOf("github_secret"), String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  private static Optional<URI> url(BotValues deliver) {
    var text = deliver.text("url", "an http:// or https:// address");
    if (text.isEmpty()) {
      if (deliver.get("url").isEmpty()) {
        deliver.note(deliver.path(), "needs a url");
      }
      return Optional.empty();
    }
    try {
      var url = new URI(text.get());
      WebhookRequest.requireUrl(url);
      return Optional.of(url);
    } catch (URISyntaxException | IllegalArgumentException e) {
      // The message omits the value, which may contain a password.
      deliver.note(
          deliver.pathOf("url"),
          "must be an http:// or https:// address with a host and without a user name");
      return Optional.empty();
    }
  }

  private Optional<WebhookSignature> signature(BotValues deliver) {
    var given = deliver.get("secret");
    if (given.isEmpty()) {
      return Optional.empty();
    }
    var list = given.get() instanceof List<?> many ? many : List.of(given.get());
    try {
      var resolved = new ArrayList<String>();
      for (var secret : list) {
        if (!(secret instanceof String reference)) {
          throw new IllegalArgumentException("must be a text or a list of texts");
        }
        resolved.add(secrets.apply(reference));
      }
      return Optional.of(WebhookSignature.of(resolved));
    } catch (IllegalArgumentException e) {
      deliver.note(deliver.pathOf("secret"), String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }
}
