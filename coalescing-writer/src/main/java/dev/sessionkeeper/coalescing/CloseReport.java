package dev.sessionkeeper.coalescing;

import java.util.List;

/**
 * The values that were not saved when a writer closed.
 *
 * @param unsaved accepted values that are not known to be stored
 */
public record CloseReport<K>(List<Unsaved<K>> unsaved) {
  public CloseReport {
    unsaved = List.copyOf(unsaved);
  }

  /** Returns whether every accepted value is durable or set aside. */
  public boolean isComplete() {
    return unsaved.isEmpty();
  }

  /**
   * The newest value of a key that could not be saved.
   *
   * @param attempts how often it was tried
   * @param cause why the last attempt failed
   */
  public record Unsaved<K>(K key, long version, int attempts, String cause) {}
}
