package dev.sessionkeeper.server;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.config.QueuesConfig;
import dev.sessionkeeper.server.config.Secret;
import dev.sessionkeeper.server.config.StoreConfig;
import dev.sessionkeeper.server.feature.Engine;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.sqs.PostgresSessionStateStore;
import dev.sessionkeeper.sqs.SqsQueueProvider;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.util.Optional;
import javax.sql.DataSource;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Opens the engine that the configuration names. */
final class OpenEngine {
  private OpenEngine() {}

  static Engine open(KeeperConfig config, TimeSource time) {
    var store = openStore(config.get(StoreConfig.SECTION), time);
    try {
      var queues = config.get(QueuesConfig.SECTION);
      return switch (queues.provider()) {
        case STORE -> store;
        case SQS ->
            QueuesElsewhere.inCloud(store, openSqs(queues.sqs(), store.database(), time), time);
        case SERVICEBUS ->
            QueuesElsewhere.inCloud(store, openServiceBus(queues.serviceBus(), time), time);
      };
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private static Engine openStore(StoreConfig store, TimeSource time) {
    return store.url().equals("memory") ? new MemoryEngine(time) : PostgresEngine.open(store, time);
  }

  private static QueueProvider openSqs(
      QueuesConfig.Sqs config, Optional<DataSource> database, TimeSource time) {
    var client = SqsClient.builder().httpClientBuilder(UrlConnectionHttpClient.builder());
    config.region().map(Region::of).ifPresent(client::region);
    config.endpoint().map(URI::create).ifPresent(client::endpointOverride);
    try {
      var provider = SqsQueueProvider.builder(client.build()).prefix(config.prefix()).time(time);
      database.map(PostgresSessionStateStore::create).ifPresent(provider::states);
      return provider.build();
    } catch (SdkClientException e) {
      throw new KeeperException.Misconfigured(
          "queues.provider is sqs, and its client cannot start: " + e.getMessage(), e);
    }
  }

  private static QueueProvider openServiceBus(QueuesConfig.ServiceBus config, TimeSource time) {
    var connection =
        config
            .connectionString()
            .map(Secret::reveal)
            .orElseThrow(
                () ->
                    new KeeperException.Misconfigured(
                        "queues.provider is servicebus, and"
                            + " queues.servicebus.connection_string is missing"));
    var provider = ServiceBusQueueProvider.builder(connection).time(time);
    config.administrationEndpoint().map(URI::create).ifPresent(provider::administrationEndpoint);
    return provider.build();
  }
}
