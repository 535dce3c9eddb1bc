package dev.sessionkeeper.memory;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.ContractTime;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import java.util.function.Function;

/**
 * Runs the kit on a provider with a planted bug. Its name keeps the build from running it directly.
 */
class BrokenProviderRun extends QueueProviderContract {
  static volatile Function<TimeSource, QueueProvider> provider = MemoryQueueProvider::create;

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return provider.apply(time);
  }

  @Override
  protected ContractTime contractTime() {
    return ContractTime.settable();
  }

  @Override
  protected String resultName() {
    return "planted-bug";
  }
}
