package dev.sessionkeeper.spi;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The messages of an unordered queue, each handed to one receiver at a time. */
public interface MessageSource {

  /**
   * Receives up to {@code max} messages, oldest first, and waits for the first one. Each is locked
   * for the queue's lock duration.
   */
  List<Receipted> receive(int max, Duration wait) throws InterruptedException;

  /**
   * Receives as {@link #receive(int, Duration)} does, bounded in bytes as well. A message that does
   * not fit is not locked, and its attempt is not used. By default a provider bounds the bytes
   * through the number of messages, as if each had the largest body.
   */
  default List<Receipted> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    return receive(limit.messagesOfAnySize(), wait);
  }

  /**
   * Settles one delivery.
   *
   * @return completes when the settlement is durable; fails with {@link KeeperException.LockLost}
   *     if the lock on the message has expired
   */
  CompletionStage<Void> settle(String receipt, Settlement settlement);

  /**
   * Locks the message for another lock duration.
   *
   * @return the new end
   * @throws KeeperException.LockLost if the lock expired before
   */
  Instant renew(String receipt);

  /**
   * A delivery with its receipt: an opaque token, different for every attempt.
   *
   * @param lockedUntil when the message is delivered again, unless it is settled or renewed before
   */
  record Receipted(Delivery delivery, String receipt, Instant lockedUntil) {}
}
