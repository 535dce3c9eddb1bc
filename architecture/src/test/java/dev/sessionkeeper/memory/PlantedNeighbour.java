package dev.sessionkeeper.memory;

/** Planted: a provider that uses another one. */
public final class PlantedNeighbour {
  public dev.sessionkeeper.sqs.PlantedNeighbour other() {
    return new dev.sessionkeeper.sqs.PlantedNeighbour();
  }
}
