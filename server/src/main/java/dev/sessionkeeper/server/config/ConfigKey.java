package dev.sessionkeeper.server.config;

import java.util.function.BiPredicate;

/**
 * A key of the configuration, and whether a reload can change it.
 *
 * @param path such as {@code streams.retention}
 * @param note what the rule does not say: the changes that need a restart all the same
 */
public record ConfigKey(String path, Rule rule, String note) {

  /** Decides whether a reload can take over a change. */
  public enum Rule {
    RELOAD,
    RESTART
  }

  /** A key, with the changes of it that a reload can take over. */
  record Declared(ConfigKey key, BiPredicate<Object, Object> canReload) {}

  static Declared reload(String path) {
    return new Declared(new ConfigKey(path, Rule.RELOAD, ""), (before, after) -> true);
  }

  static Declared restart(String path) {
    return new Declared(new ConfigKey(path, Rule.RESTART, ""), (before, after) -> false);
  }
}
