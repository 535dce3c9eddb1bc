package dev.sessionkeeper.processor;

import dev.sessionkeeper.Settlement;
import java.time.Duration;

/** How a batch ends: a beginning of it is completed, and the message behind that is settled. */
public sealed interface BatchSettlement {

  /** All messages of the batch are done. */
  record Complete() implements BatchSettlement {}

  /**
   * The first messages are done, the next one ends as said, and those behind it come again.
   *
   * @param completed how many messages are done, from the first one on
   * @param next how the message behind them ends
   */
  record UpTo(int completed, Settlement next) implements BatchSettlement {
    public UpTo {
      if (completed < 0) {
        throw new IllegalArgumentException("completed must not be negative, was " + completed);
      }
    }
  }

  /** All messages of the batch are done. */
  static BatchSettlement complete() {
    return new Complete();
  }

  /** The first messages are done; the others come again at once and have used no attempt. */
  static BatchSettlement upTo(int completed) {
    return upTo(completed, Settlement.postpone(Duration.ZERO, "not reached by its batch"));
  }

  /** The first messages are done, and the next one ends as said. */
  static BatchSettlement upTo(int completed, Settlement next) {
    return new UpTo(completed, next);
  }
}
