package dev.sessionkeeper.servicebus;

import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import dev.sessionkeeper.time.TimeSource;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * The broker of the tests: our own server, or the namespace of {@value #ADDRESS} if set in the
 * environment, with queues created at {@value #ADMINISTRATION} if that is set too.
 */
final class TestBroker implements AutoCloseable {
  static {
    // Applies to all tests of the process: on a busy machine ten seconds are short.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  static final String ADDRESS = "KEEPER_IT_SERVICEBUS_CONNECTION";
  static final String ADMINISTRATION = "KEEPER_IT_SERVICEBUS_ADMINISTRATION";

  private final Map<String, String> environment;
  private final Optional<ServiceBusTestServer> server;

  private TestBroker(Map<String, String> environment, Optional<ServiceBusTestServer> server) {
    this.environment = environment;
    this.server = server;
  }

  static TestBroker start() {
    return start(System.getenv());
  }

  static TestBroker start(Map<String, String> environment) {
    return new TestBroker(
        environment,
        environment.containsKey(ADDRESS)
            ? Optional.empty()
            : Optional.of(ServiceBusTestServer.start()));
  }

  /** Returns whether the environment names the broker. */
  boolean isElsewhere() {
    return server.isEmpty();
  }

  private ServiceBusQueueProvider elsewhere(TimeSource time) {
    var provider =
        ServiceBusQueueProvider.builder(environment.getOrDefault(ADDRESS, "")).time(time);
    Optional.ofNullable(environment.get(ADMINISTRATION))
        .map(URI::create)
        .ifPresent(provider::administrationEndpoint);
    return provider.build();
  }

  ServiceBusQueueProvider provider(TimeSource time) {
    if (server.isEmpty()) {
      return elsewhere(time);
    }
    return ServiceBusQueueProvider.builder(server.get().connectionString())
        .administrationEndpoint(server.get().administrationEndpoint())
        .time(time)
        .retry(impatient())
        .build();
  }

  /** Returns three attempts of five seconds each. */
  static AmqpRetryOptions impatient() {
    return new AmqpRetryOptions()
        .setTryTimeout(Duration.ofSeconds(5))
        .setMaxRetries(2)
        .setDelay(Duration.ofMillis(50))
        .setMode(AmqpRetryMode.FIXED);
  }

  ServiceBusTestServer server() {
    return server.orElseThrow();
  }

  @Override
  public void close() {
    server.ifPresent(ServiceBusTestServer::close);
  }
}
