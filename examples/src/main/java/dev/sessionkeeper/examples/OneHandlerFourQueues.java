package dev.sessionkeeper.examples;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.sqs.SqsQueueProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * One handler on four queues: only the line that creates the provider differs. The first attempt to
 * weigh a parcel fails, and it is still not shipped before it was weighed.
 */
public final class OneHandlerFourQueues {
  private final Map<String, Boolean> isCalibrated = new ConcurrentHashMap<>();
  private final CountDownLatch shipped = new CountDownLatch(2);

  private OneHandlerFourQueues() {}

  public static void main(String[] arguments) throws InterruptedException {
    // region one-line
    try (var provider = inMemory()) { // or inPostgres(source), onSqs(client), onServiceBus(address)
      run(provider);
    }
    // endregion
  }

  static QueueProvider inMemory() {
    return MemoryQueueProvider.create();
  }

  static QueueProvider inPostgres(DataSource source) {
    return PostgresQueueProvider.create(source);
  }

  static QueueProvider onSqs(SqsClient client) {
    return SqsQueueProvider.create(client);
  }

  static QueueProvider onServiceBus(String connectionString) {
    return ServiceBusQueueProvider.create(connectionString);
  }

  static void run(QueueProvider provider) throws InterruptedException {
    var parcels = QueueName.of("parcels");
    provider.declare(parcels, QueueSettings.ordered());
    for (var step : List.of("pack", "weigh", "ship")) {
      for (var parcel : List.of("parcel-1", "parcel-2")) {
        provider.send(parcels, List.of(Message.of(SessionId.of(parcel), Payload.text(step))));
      }
    }
    var example = new OneHandlerFourQueues();
    try (var processor =
        SessionProcessor.builder(provider, parcels, example::handle).build().start()) {
      example.shipped.await();
    }
  }

  private Settlement handle(Delivery delivery, SessionContext session) {
    var step = delivery.payload().asText();
    System.out.println(session.id() + ": " + step + ", attempt " + delivery.attempt());
    if (step.equals("weigh") && isCalibrated.putIfAbsent(session.id().value(), true) == null) {
      return Settlement.retryAfter(Duration.ofMillis(100), "the scale is being calibrated");
    }
    if (step.equals("ship")) {
      shipped.countDown();
    }
    return Settlement.complete();
  }
}
