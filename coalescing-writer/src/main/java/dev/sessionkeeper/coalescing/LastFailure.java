package dev.sessionkeeper.coalescing;

/** Remembers the last failure until a write succeeds. */
final class LastFailure {
  private static final WriterHealth UP =
      new WriterHealth(WriterHealth.Status.UP, "The last write succeeded");

  private volatile WriterHealth now = UP;

  void writeSucceeded() {
    if (now.status() != WriterHealth.Status.UP) {
      now = UP;
    }
  }

  void writeFailed(String cause) {
    // A dead worker is more serious, so its failure stays until its replacement has written.
    if (now.status() != WriterHealth.Status.DOWN) {
      now =
          new WriterHealth(
              WriterHealth.Status.DEGRADED,
              "The store does not take writes; they are repeated: " + cause);
    }
  }

  void workerDied(Throwable cause) {
    now =
        new WriterHealth(
            WriterHealth.Status.DOWN,
            "A worker died and was replaced; its batch is written again: " + cause);
  }

  WriterHealth health() {
    return now;
  }
}
