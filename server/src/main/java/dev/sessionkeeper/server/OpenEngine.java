package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.time.TimeSource;

/** Opens the engine that the configuration names. */
final class OpenEngine {
  private OpenEngine() {}

  static Engine open(KeeperConfig config, TimeSource time) {
    var store = config.get(StoreConfig.SECTION);
    if (store.url().equals("memory")) {
      return new MemoryEngine(time);
    }
    return PostgresEngine.open(store, time);
  }
}
