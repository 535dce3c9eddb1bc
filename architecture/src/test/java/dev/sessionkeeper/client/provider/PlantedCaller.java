package dev.sessionkeeper.client.provider;

import dev.sessionkeeper.client.KeeperClient;
import java.util.Map;

/** Breaks the rule that one class calls the server. */
public final class PlantedCaller {
  Object call(KeeperClient client) {
    return client.get("/queues", Map.of());
  }
}
