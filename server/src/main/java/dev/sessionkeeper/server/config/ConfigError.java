package dev.sessionkeeper.server.config;

/**
 * A mistake in the configuration.
 *
 * @param where {@code keeper.yaml:3:9}, {@code KEEPER_SERVER_PORT} or {@code --port}
 * @param key the path of the key: {@code bots[0].events}
 */
public record ConfigError(String where, String key, String reason) {
  @Override
  public String toString() {
    return where + ": " + key + " " + reason;
  }
}
