package dev.sessionkeeper.cursors;

import java.util.concurrent.atomic.AtomicReference;

/** Remembers the last trouble until a write succeeds again. */
final class Vitals {
  private static final WriterHealth UP =
      new WriterHealth(WriterHealth.Status.UP, "The last write succeeded");

  private final AtomicReference<WriterHealth> now = new AtomicReference<>(UP);

  void writeSucceeded() {
    if (now.get() != UP) {
      now.set(UP);
    }
  }

  void writeFailed(String cause) {
    // A dead worker is the graver news; it stays until its replacement has written.
    now.updateAndGet(
        health ->
            health.status() == WriterHealth.Status.DOWN
                ? health
                : new WriterHealth(
                    WriterHealth.Status.DEGRADED,
                    "The store does not take writes; they are repeated: " + cause));
  }

  void workerDied(Throwable cause) {
    now.set(
        new WriterHealth(
            WriterHealth.Status.DOWN,
            "A worker died and was replaced; its batch is written again: " + cause));
  }

  WriterHealth health() {
    return now.get();
  }
}
