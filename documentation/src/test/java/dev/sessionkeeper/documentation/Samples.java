package dev.sessionkeeper.documentation;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.client.EventStream;
import dev.sessionkeeper.client.StreamedEvent;
import dev.sessionkeeper.coalescing.CoalescingWriter;
import dev.sessionkeeper.coalescing.PostgresLastValueStore;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.jobs.Schedule;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionHooks;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.sqs.SessionStateStore;
import dev.sessionkeeper.sqs.SqsQueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import dev.sessionkeeper.tracing.TraceMessages;
import io.opentelemetry.api.OpenTelemetry;
import java.net.URI;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.slf4j.Logger;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * Java samples of the explanation pages, compiled. {@link SamplesTest} compares the pages with
 * them.
 */
abstract class Samples {
  private static final Logger log = org.slf4j.LoggerFactory.getLogger(Samples.class);

  abstract int bill(Connection connection, Instant slot);

  abstract void handle(StreamedEvent event);

  void jobs(DataSource dataSource) {
    Jobs.migrate(dataSource);
    var jobs = Jobs.create(dataSource);
    jobs.register(
        "usage-emission",
        Schedule.every(Duration.ofMinutes(1)),
        context ->
            context.inFencedTransaction(connection -> bill(connection, context.slot().at())));
    jobs.start();
  }

  void streams(CountDownLatch stopped) throws InterruptedException {
    try (var stream =
        EventStream.of(URI.create("http://127.0.0.1:8080"), "orders")
            .after(0)
            .open(event -> handle(event))) {
      stopped.await();
    }
  }

  void lastValues(DataSource dataSource) {
    var store = PostgresLastValueStore.create(Database.of(dataSource), "progress");
    try (var writer = CoalescingWriter.create(store)) {
      writer.submit("job-17", 4_200, "42 %").thenAccept(outcome -> log.info("saved: {}", outcome));
    }
  }

  SessionProcessor traces(
      OpenTelemetry openTelemetry,
      QueueProvider provider,
      QueueName orders,
      List<Message> messages,
      MessageHandler handler) {
    var traces = TraceMessages.with(openTelemetry);
    traces.send(orders, messages, carrying -> provider.send(orders, carrying));

    var traced =
        traces.processing(orders, Map.of("bot.name", "triage", "ordering.scope", "entity"));
    var processor =
        SessionProcessor.builder(provider, orders, traced.handler(handler))
            .hooks(traced.hooks(SessionHooks.NONE))
            .build();
    return processor;
  }

  QueueProvider pooled(DataSource pooled, DataSource direct, PostgresOptions options) {
    var notices = Notices.over(pooled, direct);
    var provider = PostgresQueueProvider.create(pooled, options, TimeSource.system(), notices);
    return provider;
  }

  QueueProvider sqs(SqsClient sqsClient, SessionStateStore store) {
    var provider = SqsQueueProvider.builder(sqsClient).prefix("prod-").states(store).build();
    return provider;
  }

  QueueProvider serviceBus(String connectionString) {
    var provider = ServiceBusQueueProvider.create(connectionString);
    return provider;
  }

  abstract static class OfTheContract {
    abstract static class Hidden {
      // Each provider's module runs the real contract; this class only has to compile.
      class MyProviderTest extends QueueProviderContract {
        @Override
        protected QueueProvider createProvider(TimeSource time) {
          return MemoryQueueProvider.create(time);
        }
      }
    }
  }
}
