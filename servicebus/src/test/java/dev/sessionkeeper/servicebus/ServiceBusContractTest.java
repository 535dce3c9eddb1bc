package dev.sessionkeeper.servicebus;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract over AMQP: against our own server, or against Azure if its address is set. */
@Tag("slow")
class ServiceBusContractTest extends QueueProviderContract {
  private static TestBroker broker;

  @BeforeAll
  static void start() {
    broker = TestBroker.start();
    WarmUp.run(broker.provider(TimeSource.system()));
  }

  @AfterAll
  static void stop() {
    broker.close();
  }

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return broker.provider(time);
  }
}
