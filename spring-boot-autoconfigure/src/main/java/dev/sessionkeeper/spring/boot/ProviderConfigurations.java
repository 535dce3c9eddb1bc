package dev.sessionkeeper.spring.boot;

import com.azure.core.credential.TokenCredential;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.provider.ServerQueueProvider;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.PostgresTransactions;
import dev.sessionkeeper.sqs.SqsQueueProvider;
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

/** One provider of queues, as {@code sessionkeeper.provider} says. */
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

  /** Also makes the transactions: the provider is known to use the application's DataSource. */
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
      return new PostgresTransactions(provider, sources.getObject(), managers.getObject());
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
    KeeperClient sessionkeeperClient(SessionkeeperProperties properties) {
      var client = KeeperClient.of(properties.server().urls());
      var key = properties.server().apiKey();
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
      var settings = properties.servicebus();
      if (settings.connectionString() != null) {
        return ServiceBusQueueProvider.create(settings.connectionString());
      }
      var credential = credentials.getIfUnique();
      if (settings.namespace() == null || credential == null) {
        throw new KeeperException.Misconfigured(
            "sessionkeeper.provider is servicebus, which needs"
                + " sessionkeeper.servicebus.connection-string, or"
                + " sessionkeeper.servicebus.namespace and one TokenCredential bean");
      }
      return ServiceBusQueueProvider.builder(settings.namespace(), credential).build();
    }
  }
}
