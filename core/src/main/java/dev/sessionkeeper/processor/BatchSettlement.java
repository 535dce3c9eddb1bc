package dev.sessionkeeper.processor;

import dev.sessionkeeper.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The end of a batch: all messages are completed, or the first ones are completed and the next one
 * is settled.
 */
public sealed interface BatchSettlement {

  /** All messages of the batch are completed. */
  record Complete() implements BatchSettlement {}

  /**
   * The first messages are completed, the next one is settled, and the others come again.
   *
   * @param completed how many messages are completed, from the first one on
   * @param next the settlement of the message behind them
   */
  record UpTo(int completed, Settlement next) implements BatchSettlement {
    public UpTo {
      if (completed < 0) {
        throw new IllegalArgumentException("completed must not be negative, was " + completed);
      }
    }
  }

  /**
   * Returns the settlements of the first messages of a batch, in order. Every settlement but the
   * last one completes its message; messages without a settlement come again.
   *
   * @throws IllegalStateException if more messages are completed than the batch has
   */
  default List<Settlement> settlements(int batchSize) {
    return switch (this) {
      case Complete complete -> Collections.nCopies(batchSize, Settlement.complete());
      case UpTo upTo -> {
        if (upTo.completed() > batchSize) {
          throw new IllegalStateException(
              "The handler completed " + upTo.completed() + " of " + batchSize + " messages");
        }
        var all = new ArrayList<>(Collections.nCopies(upTo.completed(), Settlement.complete()));
        if (upTo.completed() < batchSize) {
          all.add(upTo.next());
        }
        yield List.copyOf(all);
      }
    };
  }

  /** Completes all messages of the batch. */
  static BatchSettlement complete() {
    return new Complete();
  }

  /** Completes the first messages. The others come again at once and have used no attempt. */
  static BatchSettlement upTo(int completed) {
    return upTo(completed, Settlement.postpone(Duration.ZERO, "not reached by its batch"));
  }

  /** Completes the first messages and settles the next one. */
  static BatchSettlement upTo(int completed, Settlement next) {
    return new UpTo(completed, next);
  }
}
