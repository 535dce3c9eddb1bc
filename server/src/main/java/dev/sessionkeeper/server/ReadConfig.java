package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.ConfigKey;
import dev.sessionkeeper.server.config.ConfigSection;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.QueuesConfig;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.server.dashboard.DashboardConfig;
import dev.sessionkeeper.server.gateway.BotsConfig;
import dev.sessionkeeper.server.gateway.GithubConfig;
import dev.sessionkeeper.server.jobs.JobsConfig;
import dev.sessionkeeper.server.registry.RegistryConfig;
import dev.sessionkeeper.server.security.CorsConfig;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.server.streams.StreamsConfig;
import dev.sessionkeeper.server.telemetry.TelemetryConfig;
import dev.sessionkeeper.server.usage.UsageConfig;
import java.util.List;

/** Reads the configuration of a server: the sections of all its features, checked together. */
public final class ReadConfig {
  /** The sections of all features. To add one, declare it in its feature and name it here. */
  public static final List<ConfigSection<?>> SECTIONS =
      List.of(
          ServerConfig.SECTION,
          StoreConfig.SECTION,
          QueuesConfig.SECTION,
          StreamsConfig.SECTION,
          SecurityConfig.SECTION,
          CorsConfig.SECTION,
          DashboardConfig.SECTION,
          TelemetryConfig.SECTION,
          RegistryConfig.SECTION,
          UsageConfig.SECTION,
          JobsConfig.SECTION,
          GithubConfig.SECTION,
          BotsConfig.SECTION);

  private ReadConfig() {}

  /**
   * Reads the sources.
   *
   * @throws InvalidConfig with all that is wrong
   */
  public static KeeperConfig from(ConfigSources sources) {
    return KeeperConfig.read(sources, SECTIONS, new CheckTogether());
  }

  /** Returns all keys with their rules, in the order of the sections. */
  public static List<ConfigKey> keys() {
    return KeeperConfig.keys(SECTIONS);
  }
}
