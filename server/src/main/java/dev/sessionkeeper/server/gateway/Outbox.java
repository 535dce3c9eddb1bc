package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/** Sends messages exactly if a transaction commits. */
interface Outbox extends AutoCloseable {

  /** Bytes a body may have on its whole way. */
  int maxBodyBytes();

  /** Messages that one call may hold. */
  int maxBatch();

  /** Stores them on this connection, in the order of the list. */
  void send(Connection connection, QueueName queue, List<Message> messages) throws SQLException;

  /** Told after the commit, so that consumers need not wait until they look by themselves. */
  void committed(Collection<QueueName> queues);

  @Override
  void close();
}
