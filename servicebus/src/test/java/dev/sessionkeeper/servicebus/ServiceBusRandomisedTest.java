package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.servicebus.testserver.Faults;
import dev.sessionkeeper.testkit.RandomisedRun;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/** Processors over a broker whose connections break and whose locks end. */
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
@Tag("slow")
class ServiceBusRandomisedTest {
  private static final QueueName QUEUE = QueueName.of("randomised");
  private static final long SEED = 11;
  private static final int MISHAPS = 12;

  @Test
  void nothingIsOvertakenSharedOrLostWhileTheBrokerMisbehaves() throws Exception {
    try (var broker = TestBroker.start();
        var provider = broker.provider(TimeSource.system())) {
      provider.declare(
          QUEUE,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(5))
              .withMaxDeliveryCount(1000));
      var random = new Random(SEED);

      var report =
          RandomisedRun.on(provider, QUEUE, SEED)
              .ofSize(12, 600)
              .troubled(MISHAPS, () -> mishap(broker.server().faults(), random))
              .run(Duration.ofSeconds(240));

      assertThat(report.violations()).as("%s", report).isEmpty();
      assertThat(report.completed() + report.deadLetters()).isGreaterThanOrEqualTo(600);
    }
  }

  private static void mishap(Faults faults, Random random) {
    switch (random.nextInt(3)) {
      case 0 -> faults.dropConnections();
      case 1 -> faults.expireSessionLocks(QUEUE.value());
      default -> faults.delayReplies(random.nextBoolean() ? Duration.ofMillis(30) : Duration.ZERO);
    }
  }
}
