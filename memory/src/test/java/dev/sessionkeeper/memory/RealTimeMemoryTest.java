package dev.sessionkeeper.memory;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract with the machine's clock, as other providers run it. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class RealTimeMemoryTest extends QueueProviderContract {
  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return MemoryQueueProvider.create(time);
  }

  @Override
  protected String resultName() {
    return "memory-real-time";
  }
}
