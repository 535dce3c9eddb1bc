package dev.sessionkeeper.sqs;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract over HTTP: against ElasticMQ, or against AWS if its region is set. */
@Tag("slow")
class SqsContractTest extends QueueProviderContract {
  private static final SessionStateStore STATES = new MemorySessionStateStore();
  private static TestSqs sqs;

  @BeforeAll
  static void start() {
    sqs = TestSqs.start();
    WarmUp.run(sqs.provider(TimeSource.system(), STATES));
  }

  @AfterAll
  static void stop() {
    sqs.close();
  }

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return sqs.provider(time, STATES);
  }
}
