package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/** The queues are in the same database: the message itself is stored with the event. */
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
  public int maxBatch() {
    return queues.capabilities().limits().maxBatch();
  }

  @Override
  public void send(Connection connection, QueueName queue, List<Message> messages)
      throws SQLException {
    queues.send(connection, queue, messages);
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
