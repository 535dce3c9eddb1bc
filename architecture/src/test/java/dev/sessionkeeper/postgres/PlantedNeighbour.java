package dev.sessionkeeper.postgres;

import dev.sessionkeeper.memory.MemoryQueueProvider;

/** Planted: a provider that knows another. */
public final class PlantedNeighbour {
  public MemoryQueueProvider other() {
    return MemoryQueueProvider.create();
  }
}
