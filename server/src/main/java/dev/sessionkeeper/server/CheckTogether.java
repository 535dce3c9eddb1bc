package dev.sessionkeeper.server;

import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.QueuesConfig;
import dev.sessionkeeper.server.config.ServerConfig;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.server.config.TlsFiles;
import dev.sessionkeeper.server.dashboard.DashboardConfig;
import dev.sessionkeeper.server.gateway.BotsConfig;
import dev.sessionkeeper.server.gateway.GithubConfig;
import dev.sessionkeeper.server.json.FieldError;
import dev.sessionkeeper.server.security.SecurityConfig;
import dev.sessionkeeper.time.TimeSource;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks keys of different sections against each other. {@code check}, the start and a reload all
 * read a configuration through this class, so all three accept the same files.
 */
final class CheckTogether implements KeeperConfig.Checks {
  private static final Duration SOON = Duration.ofDays(14);

  @Override
  public List<FieldError> errors(KeeperConfig config) {
    var errors = new ArrayList<FieldError>();
    if (config.has(ServerConfig.SECTION) && config.has(SecurityConfig.SECTION)) {
      var host = config.get(ServerConfig.SECTION).host();
      if (!config.get(SecurityConfig.SECTION).isClosed() && !isLoopback(host)) {
        errors.add(
            new FieldError(
                "server.host",
                "is "
                    + host
                    + " but security names no keys, certificates or jwt: add one of them, or"
                    + " listen on 127.0.0.1"));
      }
    }
    if (config.has(StoreConfig.SECTION)
        && config.has(BotsConfig.SECTION)
        && config.get(StoreConfig.SECTION).url().equals("memory")
        && !config.get(BotsConfig.SECTION).bots().isEmpty()) {
      errors.add(
          new FieldError(
              "bots",
              "need a database, but store.url is memory; set store.url to embedded or to"
                  + " a URL that begins with jdbc:postgresql:"));
    }
    if (config.has(QueuesConfig.SECTION)) {
      var queues = config.get(QueuesConfig.SECTION);
      if (queues.provider() == QueuesConfig.Provider.SERVICEBUS
          && queues.serviceBus().connectionString().isEmpty()) {
        errors.add(
            new FieldError(
                "queues.servicebus.connection_string",
                "is missing, and queues.provider is servicebus"));
      }
    }
    if (config.has(DashboardConfig.SECTION)
        && config.has(SecurityConfig.SECTION)
        && config.get(DashboardConfig.SECTION).oidc().isPresent()
        && config.get(SecurityConfig.SECTION).jwt().isEmpty()) {
      errors.add(
          new FieldError(
              "dashboard.oidc",
              "needs security.jwt, which names the identity provider and checks its tokens"));
    }
    return errors;
  }

  @Override
  public List<String> warnings(KeeperConfig config) {
    return Stream.concat(botsWithoutSecret(config).stream(), endingCertificate(config).stream())
        .toList();
  }

  /** Warns as early as the alert KeeperCertificateEnding does. */
  private static Optional<String> endingCertificate(KeeperConfig config) {
    if (!config.has(ServerConfig.SECTION)) {
      return Optional.empty();
    }
    var now = TimeSource.system().instant();
    return config
        .get(ServerConfig.SECTION)
        .tls()
        .map(tls -> TlsFiles.end(tls.certificate(), tls.certificatePem()))
        .filter(end -> end.isBefore(now.plus(SOON)))
        .map(
            end ->
                "The certificate of server.tls "
                    + (end.isBefore(now) ? "has expired on " : "ends on ")
                    + end.atZone(ZoneOffset.UTC).toLocalDate()
                    + (end.isBefore(now) ? "; clients refuse it" : "; replace it in time"));
  }

  private static Optional<String> botsWithoutSecret(KeeperConfig config) {
    if (config.has(BotsConfig.SECTION)
        && config.has(GithubConfig.SECTION)
        && !config.get(BotsConfig.SECTION).bots().isEmpty()
        && config.get(GithubConfig.SECTION).secrets().isEmpty()) {
      return Optional.of(
          "There are bots but no github.secrets, so every delivery of GitHub is refused; set"
              + " github.secrets to the secret of the webhook");
    }
    return Optional.empty();
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
