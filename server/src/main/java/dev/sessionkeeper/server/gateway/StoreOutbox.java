package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * An outbox for queues in the same database: stores the messages in the transaction of the event.
 */
final class StoreOutbox implements Outbox {
  private final PostgresQueueProvider queues;

  StoreOutbox(PostgresQueueProvider queues) {
    this.queues = queues;
  }

  @Override
  public int maxBodyBytes() {
    return queues.capabilities().limits().maxBodyBytes();
  }

  @Override
  public void send(
      Connection connection, Map<QueueName, List<Message>> messages, Map<MessageId, UUID> bodies)
      throws SQLException {
    for (var ofQueue : messages.entrySet()) {
      queues.send(connection, ofQueue.getKey(), ofQueue.getValue(), bodies);
    }
  }

  @Override
  public void committed(Collection<QueueName> told) {
    told.forEach(queues::wake);
  }

  @Override
  public void close() {
    // The engine closes its provider.
  }
}
