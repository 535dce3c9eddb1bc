package dev.sessionkeeper.jobs;

import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.Serve;

/** Planted: a feature that uses a provider and the server. */
public final class PlantedGuest {
  public Class<?> server() {
    return Serve.class;
  }

  public MemoryQueueProvider provider() {
    return MemoryQueueProvider.create();
  }
}
