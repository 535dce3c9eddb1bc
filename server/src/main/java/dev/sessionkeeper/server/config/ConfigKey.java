package dev.sessionkeeper.server.config;

import java.util.function.BiPredicate;

/**
 * A key of the configuration, and whether a reload can change it.
 *
 * @param path such as {@code streams.retention}
 * @param note an exception to the rule: which changes need a restart all the same
 */
public record ConfigKey(String path, Rule rule, String note) {

  /** Says whether a reload can apply a change. */
  public enum Rule {
    RELOAD,
    RESTART
  }

  /** A key, and a test of which changes a reload can apply. */
  record Declared(ConfigKey key, BiPredicate<Object, Object> canReload) {}

  static Declared reload(String path) {
    return new Declared(new ConfigKey(path, Rule.RELOAD, ""), (before, after) -> true);
  }

  static Declared restart(String path) {
    return new Declared(new ConfigKey(path, Rule.RESTART, ""), (before, after) -> false);
  }
}
