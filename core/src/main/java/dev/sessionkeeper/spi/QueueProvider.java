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

  /** The settings of a queue; empty when there is none of that name. */
  Optional<QueueSettings> settings(QueueName queue);

  /** All queues of this provider, by name. */
  List<QueueName> queues();

  /**
   * The queues that were declared here, by name. A broker may have others, of other applications,
   * which housekeeping leaves alone.
   */
  default List<QueueName> declaredQueues() {
    return queues();
  }

  /**
   * Stores the messages in the order of the list. When it returns they are durable, and are
   * handled before anything sent later to the same session.
   *
   * @return one outcome per message, in the same order
   * @throws KeeperException.UnknownQueue if there is no such queue
   * @throws KeeperException.LimitExceeded if a limit is passed; then nothing was stored
   * @throws KeeperException.SessionModeMismatch if a message does not fit the queue's mode; then
   *     nothing was stored
   */
  List<SendOutcome> send(QueueName queue, List<Message> messages);

  /** Stores one message, as {@link #send(QueueName, List)} does. */
  default SendOutcome send(QueueName queue, Message message) {
    return send(queue, List.of(message)).get(0);
  }

  /**
   * The sessions of an ordered queue.
   *
   * @throws KeeperException.SessionModeMismatch if the queue is unordered
   */
  SessionSource sessions(QueueName queue);

  /**
   * The messages of an unordered queue.
   *
   * @throws KeeperException.SessionModeMismatch if the queue is ordered
   */
  MessageSource messages(QueueName queue);

  /** Frees what this provider holds. Held leases are released. */
  @Override
  void close();
}
