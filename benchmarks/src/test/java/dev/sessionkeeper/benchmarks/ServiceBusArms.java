package dev.sessionkeeper.benchmarks;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverAsyncClient;
import dev.sessionkeeper.servicebus.ServiceBusQueueProvider;
import dev.sessionkeeper.servicebus.testserver.ServiceBusTestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Service Bus: the provider, and the SDK's own asynchronous receiver. */
final class ServiceBusArms {
  private static final int PREFETCH = 32;

  private ServiceBusArms() {}

  static List<Arm> on(ServiceBusTestServer server, int perSession) {
    var provider =
        ServiceBusQueueProvider.builder(server.connectionString())
            .administrationEndpoint(server.administrationEndpoint())
            .build();
    var builder = new ServiceBusClientBuilder().connectionString(server.connectionString());
    return List.of(
        new DrainProvider("our provider", provider, PREFETCH, perSession),
        new Bare(
            builder.sender().queueName("bare").buildClient(),
            builder
                .sessionReceiver()
                .queueName("bare")
                .disableAutoComplete()
                .maxAutoLockRenewDuration(Duration.ZERO)
                .buildAsyncClient()));
  }

  private record Bare(ServiceBusSenderClient sender, ServiceBusSessionReceiverAsyncClient sessions)
      implements Arm {
    @Override
    public String name() {
      return "bare azure-messaging-servicebus";
    }

    @Override
    public Took run(Load load) {
      for (int from = 0; from < load.messages(); from += 100) {
        var batch = new ArrayList<ServiceBusMessage>();
        for (int i = from; i < Math.min(from + 100, load.messages()); i++) {
          batch.add(
              new ServiceBusMessage("m" + i)
                  .setSessionId("s" + i * load.sessions() / load.messages()));
        }
        sender.sendMessages(batch);
      }
      int perSession = load.messages() / load.sessions();
      var started = Took.now();
      for (int session = 0; session < load.sessions(); session++) {
        var receiver = sessions.acceptNextSession().block();
        if (receiver != null) {
          receiver
              .receiveMessages()
              .flatMapSequential(message -> receiver.complete(message).thenReturn(1), PREFETCH)
              // Counted when they are settled, because the link must not close before.
              .take(perSession)
              .blockLast();
          receiver.close();
        }
      }
      return started.since();
    }
  }
}
