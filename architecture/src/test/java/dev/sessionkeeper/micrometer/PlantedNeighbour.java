package dev.sessionkeeper.micrometer;

import dev.sessionkeeper.memory.MemoryQueueProvider;

/** Breaks the rule that meters know core only. */
public final class PlantedNeighbour {
  MemoryQueueProvider provider() {
    return MemoryQueueProvider.create();
  }
}
