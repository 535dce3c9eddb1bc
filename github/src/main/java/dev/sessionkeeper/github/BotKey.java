package dev.sessionkeeper.github;

import dev.sessionkeeper.QueueSetting;
import dev.sessionkeeper.time.DurationText;
import java.time.Duration;
import java.util.Optional;

/** The keys of a bot in the configuration, each with its default and its allowed values. */
public enum BotKey {
  NAME("name", "", "letters, digits, '.', '-' or '_'"),
  EVENTS("events", "[\"*\"]", "a list of type, type.action, type.* or *, with ! to exclude"),
  REPOSITORIES("repositories", "", "a list of owner/name with * and ? as wildcards, ! to exclude"),
  ORDERING_SCOPE("ordering_scope", "entity", "none, entity or repository"),
  SESSION_KEY("session_key", "name", "name or id"),
  JOIN_CHECKS("join_checks", "false", "true or false"),
  QUEUE("queue", "", "letters, digits, '.', '-' or '_'"),
  FORMAT("format", "raw", "raw or envelope"),
  MAX_CONCURRENT_SESSIONS("max_concurrent_sessions", "50", "1 to 10000"),
  QUEUE_DEPTH_THRESHOLD("queue_depth_threshold", "100", "1 to 1000000000"),
  SESSION_TIMEOUT("session_timeout", "5m", allowed(QueueSetting.LOCK_DURATION)),
  SESSION_IDLE_TIMEOUT("session_idle_timeout", "2m", "100ms to 24h"),
  SESSION_MAX_DURATION("session_max_duration", "30m", "1s to 7d"),
  MAX_DELIVERY_COUNT("max_delivery_count", QueueSetting.MAX_DELIVERY_COUNT),
  ON_POISON("on_poison", "dead_letter", "dead_letter, park_session or block"),
  SESSIONS_ENABLED("sessions_enabled", "", "true or false"),
  DUPLICATE_DETECTION_ENABLED("duplicate_detection_enabled", "true", "true or false"),
  DUPLICATE_DETECTION_WINDOW("duplicate_detection_window", QueueSetting.DUPLICATE_WINDOW),
  DEFAULT_MESSAGE_TTL("default_message_ttl", QueueSetting.MESSAGE_TTL),
  MAX_SIZE_IN_MEGABYTES("max_size_in_megabytes", "5120", "1 to 1000000"),
  DELIVER("deliver", "", "url, secret, github_secret, timeout, allow_private_targets"),
  RETRY("retry", "", "first, factor, max, for");

  private final String key;
  private final String initially;
  private final String allowed;

  BotKey(String key, String initially, String allowed) {
    this.key = key;
    this.initially = initially;
    this.allowed = allowed;
  }

  /** A key that is a setting of the bot's queue, with its default and range. */
  BotKey(String key, QueueSetting<?> setting) {
    this(key, initially(setting), allowed(setting));
  }

  private static String initially(QueueSetting<?> setting) {
    return setting.initially() instanceof Duration span
        ? DurationText.readable(span)
        : setting.initially().toString();
  }

  private static String allowed(QueueSetting<?> setting) {
    return setting.values() instanceof QueueSetting.TimeSpan span
        ? DurationText.readable(span.least()) + " to " + DurationText.readable(span.most())
        : setting.values().allowed();
  }

  /** Returns the key as written in the file. */
  public String key() {
    return key;
  }

  /** Returns the default as a user would write it; empty if there is none. */
  public Optional<String> initially() {
    return initially.isEmpty() ? Optional.empty() : Optional.of(initially);
  }

  /** Returns the allowed values, as text. */
  public String allowed() {
    return allowed;
  }
}
