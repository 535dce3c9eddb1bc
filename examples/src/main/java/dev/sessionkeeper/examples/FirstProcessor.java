package dev.sessionkeeper.examples;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.SessionProcessor;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The shortest useful program: two customers in parallel, each one's orders in order. */
public final class FirstProcessor {
  private FirstProcessor() {}

  public static void main(String[] arguments) throws InterruptedException {
    var shutdown = new CountDownLatch(3);
    // region first-processor
    var orders = QueueName.of("orders");
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(orders, QueueSettings.ordered());
      provider.send(
          orders,
          List.of(
              Message.of(SessionId.of("customer-42"), Payload.json("{\"item\":\"tea\"}")),
              Message.of(SessionId.of("customer-7"), Payload.json("{\"item\":\"milk\"}")),
              Message.of(SessionId.of("customer-42"), Payload.json("{\"item\":\"cup\"}"))));

      try (var processor =
          SessionProcessor.builder(
                  provider,
                  orders,
                  (delivery, session) -> {
                    System.out.println(session.id() + ": " + delivery.payload().asText());
                    shutdown.countDown();
                    return Settlement.complete();
                  })
              .maxConcurrentSessions(64)
              .build()
              .start()) {
        shutdown.await();
      }
    }
    // endregion
  }
}
