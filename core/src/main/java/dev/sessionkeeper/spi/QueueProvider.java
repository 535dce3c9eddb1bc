package dev.sessionkeeper.spi;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import java.util.List;
import java.util.Optional;

/**
 * A queue technology. Every implementation passes {@code QueueProviderContract} of the test kit.
 *
 * <p>Safe for use by many threads. Optional features are separate interfaces: {@link
 * AddressableSessions}, {@link ResumableSessions}, {@link InspectableQueues}, {@link
 * OperableSessions}, {@link DeadLetterQueues}, {@link RemovableQueues}, {@link CountableQueues}.
 */
public interface QueueProvider extends AutoCloseable {

  /** Returns the limits and optional features in which providers differ. */
  Capabilities capabilities();

  /**
   * Creates a queue, or updates the settings of an existing one. The mode of a queue cannot change.
   *
   * @return whether the queue was created by this call
   * @throws KeeperException.QueueConflict if it exists with another mode
   */
  boolean declare(QueueName queue, QueueSettings settings);

  /** Returns the settings of a queue; empty if there is no queue of that name. */
  Optional<QueueSettings> settings(QueueName queue);

  /** Returns all queues of this provider, by name. */
  List<QueueName> queues();

  /**
   * Returns the queues that were declared here, by name. A broker may have queues of other
   * applications, which housekeeping must leave alone.
   */
  default List<QueueName> declaredQueues() {
    return queues();
  }

  /**
   * Stores the messages in the order of the list. When the call returns they are durable,
   * and will be handled before any message sent later to the same session.
   *
   * @return one outcome per message, in the same order
   * @throws KeeperException.UnknownQueue if there is no such queue
   * @throws KeeperException.LimitExceeded if a limit is exceeded; then nothing was stored
   * @throws KeeperException.SessionModeMismatch if a message does not fit the queue's mode; then
   *     nothing was stored
   */
  List<SendOutcome> send(QueueName queue, List<Message> messages);

  /** Stores one message, as {@link #send(QueueName, List)} does. */
  default SendOutcome send(QueueName queue, Message message) {
    return send(queue, List.of(message)).get(0);
  }

  /**
   * Returns the sessions of an ordered queue.
   *
   * @throws KeeperException.SessionModeMismatch if the queue is unordered
   */
  SessionSource sessions(QueueName queue);

  /**
   * Returns the messages of an unordered queue.
   *
   * @throws KeeperException.SessionModeMismatch if the queue is ordered
   */
  MessageSource messages(QueueName queue);

  /** Releases the provider's resources and all held leases. */
  @Override
  void close();
}
