package dev.sessionkeeper.github;

import java.util.Optional;

/** The keys of a bot in the configuration, each with its default and what it may be. */
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
  SESSION_TIMEOUT("session_timeout", "5m", "1s to 12h"),
  SESSION_IDLE_TIMEOUT("session_idle_timeout", "2m", "100ms to 24h"),
  SESSION_MAX_DURATION("session_max_duration", "30m", "1s to 7d"),
  MAX_DELIVERY_COUNT("max_delivery_count", "5", "1 to 1000"),
  ON_POISON("on_poison", "dead_letter", "dead_letter, park_session or block"),
  SESSIONS_ENABLED("sessions_enabled", "", "true or false"),
  DUPLICATE_DETECTION_ENABLED("duplicate_detection_enabled", "true", "true or false"),
  DUPLICATE_DETECTION_WINDOW("duplicate_detection_window", "10m", "0s to 7d"),
  DEFAULT_MESSAGE_TTL("default_message_ttl", "24h", "1s to 366d"),
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

  /** As written in the file. */
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
