package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Optional;

/**
 * The broker that the tests use: our own server, or the namespace of {@value #ADDRESS} where that
 * is set in the environment.
 */
final class TestBroker implements AutoCloseable {
  private static final String ADDRESS = "KEEPER_IT_SERVICEBUS_CONNECTION";

  private final Optional<ServiceBusTestServer> server;

  private TestBroker(Optional<ServiceBusTestServer> server) {
    this.server = server;
  }

  static TestBroker start() {
    return new TestBroker(
        System.getenv(ADDRESS) == null
            ? Optional.of(ServiceBusTestServer.start())
            : Optional.empty());
  }

  ServiceBusQueueProvider provider(TimeSource time) {
    if (server.isEmpty()) {
      return ServiceBusQueueProvider.builder(System.getenv(ADDRESS)).time(time).build();
    }
    return ServiceBusQueueProvider.builder(server.get().connectionString())
        .administrationEndpoint(server.get().administrationEndpoint())
        .time(time)
        .retry(
            new AmqpRetryOptions()
                .setTryTimeout(Duration.ofSeconds(5))
                .setMaxRetries(2)
                .setDelay(Duration.ofMillis(50))
                .setMode(AmqpRetryMode.FIXED))
        .build();
  }

  ServiceBusTestServer server() {
    return server.orElseThrow();
  }

  @Override
  public void close() {
    server.ifPresent(ServiceBusTestServer::close);
  }
}
