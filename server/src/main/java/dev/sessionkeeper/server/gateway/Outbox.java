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

/** Sends messages exactly if a transaction commits. */
interface Outbox extends AutoCloseable {

  /** Bytes a body may have on its whole way. */
  int maxBodyBytes();

  /**
   * Stores them on this connection, those of a queue in the order of its list.
   *
   * @param bodies which messages have their body among the shared ones already, and under which id
   */
  void send(
      Connection connection, Map<QueueName, List<Message>> messages, Map<MessageId, UUID> bodies)
      throws SQLException;

  /** Told after the commit, so that consumers need not wait until they look by themselves. */
  void committed(Collection<QueueName> queues);

  @Override
  void close();
}
