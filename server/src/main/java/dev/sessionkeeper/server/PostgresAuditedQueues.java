package dev.sessionkeeper.server;

import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.Alongside;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.SearchDeadLetters;
import dev.sessionkeeper.server.security.AuditedQueues;
import dev.sessionkeeper.server.security.DescribeReplay;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import dev.sessionkeeper.store.AuditLog;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Queues and audit log in one PostgreSQL: act and entry are one transaction. */
record PostgresAuditedQueues(PostgresQueueProvider queues, SearchDeadLetters letters)
    implements AuditedQueues {

  private static Alongside writing(Entry entry) {
    return (connection, affected) -> AuditLog.write(connection, entry.apply(affected).toStore());
  }

  @Override
  public boolean declare(QueueName queue, QueueSettings settings, Entry entry) {
    return queues.declare(queue, settings, writing(entry));
  }

  @Override
  public int act(QueueName queue, SessionId session, Act act, String reason, Entry entry) {
    return queues.act(queue, session, act, reason, writing(entry));
  }

  @Override
  public int replay(QueueName queue, Selection selection, ReplayEntry entry) {
    var messages =
        selection instanceof Selection.OfMessages of
            ? letters.bySession(queue, of.ids())
            : Map.<Optional<SessionId>, List<MessageId>>of();
    return queues.replay(
        queue,
        selection,
        (connection, count) -> {
          for (var one : DescribeReplay.entries(queue, selection, messages, count, entry)) {
            AuditLog.write(connection, one.toStore());
          }
        });
  }

  @Override
  public long purge(QueueName queue, Part part, Entry entry) {
    return queues.purge(queue, part, writing(entry));
  }

  @Override
  public boolean delete(QueueName queue, Entry entry) {
    return queues.delete(queue, writing(entry));
  }

  @Override
  public boolean discard(QueueName queue, String id, Entry entry) {
    return queues.discard(queue, id, writing(entry));
  }
}
