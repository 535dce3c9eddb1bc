package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.QueueName;

/** For providers whose queues an operator can empty and delete. */
public interface RemovableQueues {

  /** The part of a queue that a purge deletes. */
  enum Part {
    /** Messages that wait or are being handled; dead letters, session state and settings stay. */
    MESSAGES,
    /** Dead letters; waiting messages stay. */
    DEAD_LETTERS
  }

  /**
   * Deletes everything in this part of the queue that was sent before the call (O-06). Owners lose
   * their leases, and sessions that were set aside are free again. A message that is sent meanwhile
   * may be deleted, too.
   *
   * @return the number of deleted messages; an estimate where the provider cannot count
   * @throws KeeperException.UnknownQueue if there is no such queue
   * @throws KeeperException.NotSupported if the provider cannot purge this part
   */
  long purge(QueueName queue, Part part);

  /**
   * Deletes the queue with its messages, dead letters and session state (O-07). Owners lose their
   * leases. The name is free for a queue of any mode.
   *
   * @return false when there is no queue of that name
   */
  boolean delete(QueueName queue);
}
