package dev.sessionkeeper.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spring.ListenerSettings;
import dev.sessionkeeper.spring.RunningListener;
import dev.sessionkeeper.spring.SessionErrorHandler;
import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionListeners;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import dev.sessionkeeper.testkit.DelegatingProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

class SessionkeeperAutoConfigurationTest {
  record OrderPlaced(String customer, int number) {}

  /** A namespace to which the test makes no call. */
  private static final String CONNECTION =
      "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=listen;SharedAccessKey=c2VjcmV0";

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  JacksonAutoConfiguration.class,
                  SessionkeeperAutoConfiguration.class,
                  SessionkeeperHealthAutoConfiguration.class,
                  SessionkeeperEndpointAutoConfiguration.class,
                  SessionkeeperMetricsAutoConfiguration.class))
          .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
          .withPropertyValues(
              "management.endpoints.web.exposure.include=*",
              "sessionkeeper.queues.orders.mode=ordered",
              "sessionkeeper.queues.orders.max-delivery-count=2",
              "sessionkeeper.queues.mail.mode=unordered");

  private final ApplicationContextRunner memory =
      runner.withPropertyValues("sessionkeeper.provider=memory");

  @Configuration(proxyBeanMethods = false)
  static class Shop {
    final List<String> seen = new CopyOnWriteArrayList<>();

    @SessionListener(queue = "orders", id = "shop")
    void on(OrderPlaced order) {
      if (order.number() < 0) {
        throw new IllegalArgumentException("negative");
      }
      seen.add(order.customer() + order.number());
    }
  }

  private static void send(ApplicationContext context, int number) {
    context.getBean(SessionkeeperTemplate.class).send("orders", "c", new OrderPlaced("c", number));
  }

  private static void eventually(Runnable assertion) {
    Awaitility.await().atMost(Duration.ofSeconds(20)).untilAsserted(assertion::run);
  }

  @Test
  void queuesAreDeclaredAndListenersHandleWhatTheTemplateSends() {
    memory
        .withUserConfiguration(Shop.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(MemoryQueueProvider.class);
              var provider = context.getBean(QueueProvider.class);
              assertThat(provider.settings(QueueName.of("orders")).orElseThrow())
                  .satisfies(
                      settings -> {
                        assertThat(settings.mode()).isEqualTo(QueueMode.ORDERED);
                        assertThat(settings.maxDeliveryCount()).isEqualTo(2);
                      });
              assertThat(provider.settings(QueueName.of("mail")).orElseThrow().mode())
                  .isEqualTo(QueueMode.UNORDERED);
              send(context, 1);
              send(context, 2);
              eventually(
                  () -> assertThat(context.getBean(Shop.class).seen).containsExactly("c1", "c2"));
            });
  }

  @Test
  void listenersAreMeteredAndQueuesShowTheirNumbers() {
    memory
        .withUserConfiguration(Shop.class)
        .run(
            context -> {
              send(context, 1);
              var registry = context.getBean(MeterRegistry.class);
              eventually(
                  () ->
                      assertThat(
                              registry
                                  .get("sessionkeeper.messages.handled")
                                  .tags("listener", "shop", "outcome", "complete")
                                  .timer()
                                  .count())
                          .isEqualTo(1));
              context
                  .getBeansOfType(io.micrometer.core.instrument.binder.MeterBinder.class)
                  .values()
                  .forEach(binder -> binder.bindTo(registry));
              assertThat(
                      registry
                          .get("sessionkeeper.queue.depth")
                          .tag("queue", "mail")
                          .gauge()
                          .value())
                  .isZero();
            });
  }

  @Test
  void exceptionTypesOfThePropertiesMakeDeadLetters() {
    memory
        .withUserConfiguration(Shop.class)
        .withPropertyValues(
            "sessionkeeper.listener.dead-letter-on=java.lang.IllegalArgumentException")
        .run(
            context -> {
              send(context, -1);
              send(context, 2);
              eventually(() -> assertThat(context.getBean(Shop.class).seen).containsExactly("c2"));
              assertThat(
                      context
                          .getBean(MemoryQueueProvider.class)
                          .stats(QueueName.of("orders"))
                          .deadLetters())
                  .isEqualTo(1);
            });
  }

  @Test
  void anErrorHandlerBeanDecides() {
    memory
        .withUserConfiguration(Shop.class)
        .withBean(
            SessionErrorHandler.class,
            () ->
                (failure, error) ->
                    Optional.of(
                        dev.sessionkeeper.Settlement.deadLetter("by " + error.queue().value())))
        .run(
            context -> {
              send(context, -1);
              eventually(
                  () ->
                      assertThat(
                              context
                                  .getBean(MemoryQueueProvider.class)
                                  .deadLetters(
                                      QueueName.of("orders"),
                                      Optional.empty(),
                                      dev.sessionkeeper.Page.Request.first(1))
                                  .items())
                          .extracting(letter -> letter.reason())
                          .containsExactly("by orders"));
            });
  }

  @Test
  void healthIsUpAndOutOfServiceWhenThePoisonPolicyStopsAListener() {
    memory
        .withUserConfiguration(Shop.class)
        .withPropertyValues(
            "sessionkeeper.queues.orders.poison-policy=" + PoisonPolicy.STOP,
            "sessionkeeper.queues.orders.max-delivery-count=1")
        .run(
            context -> {
              var health = context.getBean(SessionkeeperHealth.class);
              assertThat(health.health().getStatus()).isEqualTo(Status.UP);
              send(context, -1);
              eventually(
                  () -> assertThat(health.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE));
              assertThat(health.health().getDetails().get("listeners"))
                  .hasToString("{shop=STOPPED_BY_POISON_POLICY}");
            });
  }

  @Test
  void healthIsDownWhenTheProviderDoesNotAnswer() {
    memory
        .withUserConfiguration(Shop.class)
        .run(
            context -> {
              var silent =
                  new DelegatingProvider(context.getBean(QueueProvider.class)) {
                    @Override
                    public Optional<QueueSettings> settings(QueueName queue) {
                      throw new KeeperException.Unavailable("The store");
                    }
                  };
              var health =
                  new SessionkeeperHealth(
                          silent,
                          context.getBean(QueueDeclarations.class),
                          context.getBean(SessionListeners.class))
                      .health();
              assertThat(health.getStatus()).isEqualTo(Status.DOWN);
              assertThat(health.getDetails().get("error")).asString().contains("SK-101");
            });
  }

  @Test
  void theEndpointShowsAndChangesListeners() {
    memory
        .withUserConfiguration(Shop.class)
        .run(
            context -> {
              var endpoint = context.getBean(SessionkeeperEndpoint.class);
              assertThat(endpoint.overview().provider()).isEqualTo("memory");
              assertThat(endpoint.overview().queues()).containsOnlyKeys("orders");
              assertThat(endpoint.overview().listeners())
                  .containsExactly(
                      new SessionkeeperEndpoint.Listener("shop", "orders", "RUNNING", 0, 8));
              assertThat(endpoint.change("shop", "pause", 3).getBody())
                  .isEqualTo(new SessionkeeperEndpoint.Listener("shop", "orders", "PAUSED", 0, 3));
              assertThat(endpoint.change("shop", "resume", null).getBody().state())
                  .isEqualTo("RUNNING");
              assertThat(endpoint.listener("nobody")).isNull();
              assertThat(endpoint.change("nobody", "pause", null).getStatus()).isEqualTo(404);
              assertThatThrownBy(() -> endpoint.change("shop", "explode", null))
                  .isInstanceOf(InvalidEndpointRequestException.class)
                  .hasMessage("action must be pause or resume, was explode");
              assertThatThrownBy(() -> endpoint.change("shop", null, 0))
                  .isInstanceOf(InvalidEndpointRequestException.class)
                  .hasMessageContaining("maxConcurrentSessions must be at least 1, was 0");
            });
  }

  @Test
  void listenersListenThoughOtherBeansAreLazy() {
    memory
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .withUserConfiguration(Shop.class)
        .run(
            context ->
                assertThat(context.getBean(SessionListeners.class).all())
                    .extracting(RunningListener::id)
                    .containsExactly("shop"));
  }

  @Test
  void aProgramWithoutAWebServerLivesAsLongAsItsListeners() {
    memory
        .withUserConfiguration(Shop.class)
        .run(
            context -> {
              assertThat(keepAliveThreads()).isNotEmpty().noneMatch(Thread::isDaemon);
              context.getBean(SessionListeners.class).stop();
              eventually(() -> assertThat(keepAliveThreads()).isEmpty());
            });
  }

  @Test
  void listenersThatDoNotStartKeepNoProgramAlive() {
    memory
        .withUserConfiguration(Shop.class)
        .withPropertyValues("sessionkeeper.listener.auto-startup=false")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(keepAliveThreads()).isEmpty();
            });
  }

  private static List<Thread> keepAliveThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("keeper-keep-alive"))
        .toList();
  }

  @Test
  void retriesWaitAsThePropertiesSayAndTheQueueCountsAttempts() {
    memory
        .withUserConfiguration(Shop.class)
        .withPropertyValues(
            "sessionkeeper.queues.orders.max-delivery-count=3",
            "sessionkeeper.listener.retry.delay=1ms",
            "sessionkeeper.listener.retry.max-delay=2ms")
        .run(
            context -> {
              assertThat(context.getBean(ListenerSettings.class).options().retry().first())
                  .isEqualTo(Duration.ofMillis(1));
              send(context, -1);
              eventually(
                  () ->
                      assertThat(
                              context
                                  .getBean(MemoryQueueProvider.class)
                                  .deadLetters(
                                      QueueName.of("orders"),
                                      Optional.empty(),
                                      dev.sessionkeeper.Page.Request.first(1))
                                  .items())
                          .extracting(letter -> letter.attempts())
                          .containsExactly(3));
            });
  }

  @Test
  void aBeanWithConnectionDetailsReplacesTheAddressOfTheServer() throws IOException {
    var asked = new CopyOnWriteArrayList<String>();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestHeaders().getFirst("Authorization"));
          exchange.sendResponseHeaders(403, -1);
          exchange.close();
        });
    server.start();
    try {
      runner
          .withPropertyValues("sessionkeeper.provider=server")
          .withBean(
              SessionkeeperConnectionDetails.class,
              () -> new SessionkeeperProperties.Server(List.of(addressOf(server)), "from-a-bean"))
          .run(context -> assertThat(context).hasFailed());
    } finally {
      server.stop(0);
    }
    assertThat(asked).containsOnly("Bearer from-a-bean");
  }

  private static URI addressOf(HttpServer server) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  @Test
  void aSubscriptionNeedsAQueueWithItsSettings() {
    runner
        .withPropertyValues(
            "sessionkeeper.provider=servicebus",
            "sessionkeeper.servicebus.connection-string=" + CONNECTION,
            "sessionkeeper.servicebus.subscriptions.sales.topic=sales",
            "sessionkeeper.servicebus.subscriptions.sales.subscription=shop")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("Set sessionkeeper.queues.sales.mode"));
  }

  @Test
  void aNamespaceThatIsNotManagedIsNotAskedAboutItsQueues() {
    runner
        .withPropertyValues(
            "sessionkeeper.provider=servicebus",
            "sessionkeeper.servicebus.connection-string=" + CONNECTION,
            "sessionkeeper.servicebus.manage=false",
            "sessionkeeper.servicebus.subscriptions.orders.topic=sales",
            "sessionkeeper.servicebus.subscriptions.orders.subscription=shop")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(QueueProvider.class).queues())
                  .extracting(QueueName::value)
                  .containsExactly("mail", "orders");
            });
  }

  @Test
  void aDrainThatIsLongerThanTheShutdownPhaseIsRefused() {
    memory
        .withPropertyValues(
            "spring.lifecycle.timeout-per-shutdown-phase=10s",
            "sessionkeeper.listener.drain-timeout=10s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining(
                        "sessionkeeper.listener.drain-timeout must be shorter than"
                            + " spring.lifecycle.timeout-per-shutdown-phase (PT10S), was PT10S"));
  }

  @Test
  void postgresWithoutADataSourceSaysWhatToSet() {
    runner.run(
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("Set spring.datasource.url, or sessionkeeper.provider"));
  }

  @Test
  void aProviderThatIsNotOnTheClassPathSaysWhatToAdd() {
    runner
        .withPropertyValues("sessionkeeper.provider=sqs")
        .withClassLoader(new FilteredClassLoader("dev.sessionkeeper.sqs"))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("sessionkeeper.provider is sqs. Add sessionkeeper-sqs"));
    runner
        .withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("spring-boot-starter-jdbc"));
  }

  @Test
  void anUnknownQueueIsExplained() {
    var analysis =
        new UnknownQueueFailureAnalyzer()
            .analyze(
                new dev.sessionkeeper.KeeperException.UnknownQueue(QueueName.of("orders")),
                new dev.sessionkeeper.KeeperException.UnknownQueue(QueueName.of("orders")));
    assertThat(analysis.getAction()).contains("sessionkeeper.queues");
  }

  @Configuration(proxyBeanMethods = false)
  static class Ledger {
    @Bean
    DataSource dataSource() {
      var pool = new HikariDataSource();
      pool.setDataSource(EmbeddedPostgres.temporaryWithoutSync().dataSource());
      pool.setMaximumPoolSize(8);
      return pool;
    }

    @Bean
    JdbcClient jdbc(DataSource source) {
      var jdbc = JdbcClient.create(source);
      jdbc.sql("CREATE TABLE entry (text text)").update();
      return jdbc;
    }

    @Bean
    Booking booking(JdbcClient jdbc) {
      return new Booking(jdbc);
    }
  }

  record Booking(JdbcClient jdbc) {
    @SessionListener(queue = "orders", id = "ledger", transactional = true)
    void book(OrderPlaced order) throws IOException {
      jdbc.sql("INSERT INTO entry VALUES (?)").param("" + order.number()).update();
      if (order.number() == 2) {
        throw new IOException("rolled back");
      }
    }

    List<String> entries() {
      return jdbc.sql("SELECT text FROM entry").query(String.class).list();
    }
  }

  @Test
  void aTransactionalListenerUsesTheApplicationsDataSource() {
    runner
        .withConfiguration(
            AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class))
        .withUserConfiguration(Ledger.class)
        .withPropertyValues("sessionkeeper.listener.dead-letter-on=java.io.IOException")
        .run(
            context -> {
              assertThat(context).hasSingleBean(PostgresQueueProvider.class);
              for (int i = 1; i <= 3; i++) {
                send(context, i);
              }
              eventually(
                  () ->
                      assertThat(context.getBean(Booking.class).entries())
                          .containsExactly("1", "3"));
              assertThat(context.getBean(SessionListeners.class).isRunning()).isTrue();
            });
  }

  @Test
  void everySettingIsInTheMetadataOfTheEditor() throws IOException {
    var metadata =
        new String(
            getClass()
                .getResourceAsStream("/META-INF/spring-configuration-metadata.json")
                .readAllBytes(),
            StandardCharsets.UTF_8);
    assertThat(metadata)
        .contains(
            "\"name\": \"sessionkeeper.provider\"",
            "\"name\": \"sessionkeeper.queues\"",
            "\"name\": \"sessionkeeper.listener.concurrency\"",
            "\"name\": \"sessionkeeper.listener.drain-timeout\"",
            "Where the queues are.");
  }
}
