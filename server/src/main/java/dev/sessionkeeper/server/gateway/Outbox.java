package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Sends messages if and only if a transaction commits. */
interface Outbox extends AutoCloseable {

  /** Returns the largest body in bytes that the store and the queue's provider both accept. */
  int maxBodyBytes();

  /**
   * Stores the messages on this connection, those of one queue in the order of its list.
   *
   * @param bodies the ids of shared payloads, for messages whose payload is stored already
   */
  void send(
      Connection connection, Map<QueueName, List<Message>> messages, Map<MessageId, UUID> bodies)
      throws SQLException;

  /** Notifies consumers after the commit, so that they need not wait for their next poll. */
  void committed(Collection<QueueName> queues);

  @Override
  void close();
}
