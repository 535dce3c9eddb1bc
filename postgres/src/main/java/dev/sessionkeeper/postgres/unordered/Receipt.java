package dev.sessionkeeper.postgres.unordered;

import dev.sessionkeeper.KeeperException;
import java.util.Optional;

/**
 * The proof that a message of an unordered queue was delivered: its sequence number and that of the
 * lock.
 */
public record Receipt(long sequence, long proof) {

  static Optional<Receipt> parse(String receipt) {
    int dot = receipt.indexOf('.');
    try {
      return dot < 0
          ? Optional.empty()
          : Optional.of(
              new Receipt(
                  Long.parseLong(receipt.substring(0, dot)),
                  Long.parseLong(receipt.substring(dot + 1))));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  static KeeperException.LockLost lost(String receipt) {
    return new KeeperException.LockLost("the message with receipt " + receipt, 0);
  }

  @Override
  public String toString() {
    return sequence + "." + proof;
  }
}
