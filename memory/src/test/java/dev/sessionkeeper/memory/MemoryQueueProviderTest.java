package dev.sessionkeeper.memory;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.ContractTime;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;

class MemoryQueueProviderTest extends QueueProviderContract {
  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return MemoryQueueProvider.create(time);
  }

  @Override
  protected ContractTime contractTime() {
    return ContractTime.settable();
  }
}
