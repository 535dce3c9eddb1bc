package dev.sessionkeeper.postgres;

import dev.sessionkeeper.memory.MemoryQueueProvider;

/** Planted: a provider that uses another one. */
public final class PlantedNeighbour {
  public MemoryQueueProvider other() {
    return MemoryQueueProvider.create();
  }
}
