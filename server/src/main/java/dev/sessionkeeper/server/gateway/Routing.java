package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.github.Bot;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.server.config.KeeperConfig;
import java.util.List;
import java.util.Optional;

/**
 * The rules that read and route a delivery. One immutable value, so that a reload changes all of
 * them at once.
 *
 * @param reader empty if no secret is configured
 */
record Routing(Optional<ReadDelivery> reader, List<Bot> bots) {
  static Routing of(KeeperConfig config) {
    return new Routing(
        config.get(GithubConfig.SECTION).reader(), config.get(BotsConfig.SECTION).bots());
  }
}
