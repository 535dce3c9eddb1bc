package dev.sessionkeeper.spring.boot;

import com.azure.core.credential.TokenCredential;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.PostgresTransactions;
import dev.sessionkeeper.sqs.SqsQueueProvider;
import java.util.Locale;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Creates the provider that {@code sessionkeeper.provider} names. */
final class ProviderConfigurations {
  private static final String NAME = "sessionkeeper.provider";

  private ProviderConfigurations() {}

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MemoryQueueProvider.class)
  @ConditionalOnProperty(name = NAME, havingValue = "memory")
  @ConditionalOnMissingBean(QueueProvider.class)
  static class Memory {
    @Bean
    MemoryQueueProvider sessionkeeperProvider() {
      return MemoryQueueProvider.create();
    }
  }

  /**
   * Also creates the transactions, because the provider is known to use the application's
   * DataSource.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({PostgresQueueProvider.class, DataSourceUtils.class})
  @ConditionalOnProperty(name = NAME, havingValue = "postgres", matchIfMissing = true)
  @ConditionalOnMissingBean(QueueProvider.class)
  static class Postgres {
    @Bean
    PostgresQueueProvider sessionkeeperProvider(ObjectProvider<DataSource> sources) {
      var source = sources.getIfUnique();
      if (source == null) {
        throw new KeeperException.Misconfigured(
            "sessionkeeper.provider is postgres, which needs one DataSource bean. Set"
                + " spring.datasource.url, or sessionkeeper.provider to memory");
      }
      return PostgresQueueProvider.create(source);
    }

    @Bean
    @ConditionalOnMissingBean
    PostgresTransactions sessionkeeperTransactions(
        PostgresQueueProvider provider,
        ObjectProvider<DataSource> sources,
        ObjectProvider<PlatformTransactionManager> managers) {
      var manager = managers.getIfUnique();
      if (manager == null) {
        throw new KeeperException.Misconfigured(
            "sessionkeeper.provider is postgres, which needs one transaction manager. Mark one"
                + " PlatformTransactionManager bean as @Primary");
      }
      return new PostgresTransactions(provider, sources.getObject(), manager);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(SqsQueueProvider.class)
  @ConditionalOnProperty(name = NAME, havingValue = "sqs")
  @ConditionalOnMissingBean(QueueProvider.class)
  static class Sqs {
    @Bean
    @ConditionalOnMissingBean
    SqsClient sessionkeeperSqsClient() {
      return SqsClient.create();
    }

    @Bean
    SqsQueueProvider sessionkeeperProvider(SqsClient client, SessionkeeperProperties properties) {
      return SqsQueueProvider.builder(client).prefix(properties.sqs().prefix()).build();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ServerQueueProvider.class)
  @ConditionalOnProperty(name = NAME, havingValue = "server")
  @ConditionalOnMissingBean(QueueProvider.class)
  static class Server {
    @Bean
    @ConditionalOnMissingBean
    SessionkeeperConnectionDetails sessionkeeperConnectionDetails(
        SessionkeeperProperties properties) {
      return properties.server();
    }

    @Bean
    @ConditionalOnMissingBean
    KeeperClient sessionkeeperClient(SessionkeeperConnectionDetails details) {
      var client = KeeperClient.of(details.urls());
      var key = details.apiKey();
      return key == null ? client : client.withApiKey(key);
    }

    @Bean
    ServerQueueProvider sessionkeeperProvider(KeeperClient client) {
      return ServerQueueProvider.over(client);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ServiceBusQueueProvider.class)
  @ConditionalOnProperty(name = NAME, havingValue = "servicebus")
  @ConditionalOnMissingBean(QueueProvider.class)
  static class ServiceBus {
    @Bean
    ServiceBusQueueProvider sessionkeeperProvider(
        SessionkeeperProperties properties, ObjectProvider<TokenCredential> credentials) {
      var builder = builder(properties.servicebus(), credentials);
      var subscriptions = properties.servicebus().subscriptions();
      if (properties.servicebus().manage() && subscriptions.isEmpty()) {
        return builder.build();
      }
      subscriptions.keySet().forEach(name -> requireDeclared(name, properties));
      properties
          .queues()
          .forEach(
              (name, queue) -> {
                var subscription = subscriptions.get(name);
                if (subscription == null) {
                  builder.queue(QueueName.of(name), queue.settings());
                } else {
                  builder.subscription(
                      QueueName.of(name),
                      subscription.topic(),
                      subscription.subscription(),
                      queue.settings());
                }
              });
      return builder.build();
    }

    private static void requireDeclared(String name, SessionkeeperProperties properties) {
      if (!properties.queues().containsKey(name)) {
        throw new KeeperException.Misconfigured(
            "sessionkeeper.servicebus.subscriptions."
                + name
                + " names no queue of sessionkeeper.queues. Set sessionkeeper.queues."
                + name
                + ".mode");
      }
    }

    private static ServiceBusQueueProvider.Builder builder(
        SessionkeeperProperties.ServiceBus settings, ObjectProvider<TokenCredential> credentials) {
      if (settings.connectionString() != null) {
        return ServiceBusQueueProvider.builder(settings.connectionString());
      }
      var credential = credentials.getIfUnique();
      if (settings.namespace() == null || credential == null) {
        throw new KeeperException.Misconfigured(
            "sessionkeeper.provider is servicebus, which needs"
                + " sessionkeeper.servicebus.connection-string, or"
                + " sessionkeeper.servicebus.namespace and one TokenCredential bean");
      }
      return ServiceBusQueueProvider.builder(settings.namespace(), credential);
    }
  }

  /** Explains what to add when the class path lacks the provider. Must be the last of these. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingBean(QueueProvider.class)
  static class Missing {
    @Bean
    QueueProvider sessionkeeperProvider(SessionkeeperProperties properties) {
      var provider = properties.provider();
      throw new KeeperException.Misconfigured(
          NAME
              + " is "
              + provider.name().toLowerCase(Locale.ROOT)
              + ". Add "
              + switch (provider) {
                case MEMORY -> "sessionkeeper-memory";
                case POSTGRES ->
                    "sessionkeeper-postgres, and spring-boot-starter-jdbc or"
                        + " spring-boot-starter-data-jpa";
                case SQS -> "sessionkeeper-sqs";
                case SERVICEBUS -> "sessionkeeper-servicebus";
                case SERVER -> "sessionkeeper-client";
              }
              + " to the dependencies of the application");
    }
  }
}
