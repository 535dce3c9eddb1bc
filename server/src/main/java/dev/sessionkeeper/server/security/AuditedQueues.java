package dev.sessionkeeper.server.security;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.spi.RemovableQueues;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The acts of operators on queues, each with its audit entry; both in one transaction if queues and
 * audit log are in one store.
 */
public interface AuditedQueues {

  /** Creates the audit entry of an act from the number of affected objects. */
  interface Entry extends IntFunction<AuditLog.Entry> {}

  /** Creates an audit entry of a replay from its target and a description of the dead letters. */
  @FunctionalInterface
  interface ReplayEntry {
    AuditLog.Entry of(String target, String what);
  }

  /** Creates or changes a queue; the entry's number is 1 if the queue was created. */
  boolean declare(QueueName queue, QueueSettings settings, Entry entry);

  int act(QueueName queue, SessionId session, Act act, String reason, Entry entry);

  /** Replays dead letters; the entries name them, as {@link DescribeReplay} says. */
  int replay(QueueName queue, Selection selection, ReplayEntry entry);

  /** Purges a part of a queue; the entry's number is that of the deleted messages. */
  long purge(QueueName queue, Part part, Entry entry);

  /** Deletes a queue; writes no entry if there was none. */
  boolean delete(QueueName queue, Entry entry);

  /** Discards a dead letter; writes no entry if there was none. */
  boolean discard(QueueName queue, String id, Entry entry);

  /**
   * Returns the acts on queues outside the log's store: the entry is written after the act. The
   * provider is known to support the act.
   */
  static AuditedQueues afterwards(QueueProvider provider, AuditLog log) {
    return new AuditAfterwards(provider, log);
  }

  /** Acts first, then writes the entry. */
  record AuditAfterwards(QueueProvider provider, AuditLog log) implements AuditedQueues {
    @Override
    public boolean declare(QueueName queue, QueueSettings settings, Entry entry) {
      boolean created = provider.declare(queue, settings);
      log.record(entry.apply(created ? 1 : 0));
      return created;
    }

    @Override
    public int act(QueueName queue, SessionId session, Act act, String reason, Entry entry) {
      int affected = ((OperableSessions) provider).act(queue, session, act, reason);
      log.record(entry.apply(affected));
      return affected;
    }

    @Override
    public int replay(QueueName queue, Selection selection, ReplayEntry entry) {
      int replayed = ((DeadLetterQueues) provider).replay(queue, selection);
      DescribeReplay.entries(queue, selection, Map.of(), replayed, entry).forEach(log::record);
      return replayed;
    }

    @Override
    public long purge(QueueName queue, Part part, Entry entry) {
      long purged = ((RemovableQueues) provider).purge(queue, part);
      log.record(entry.apply((int) Math.min(Integer.MAX_VALUE, purged)));
      return purged;
    }

    @Override
    public boolean delete(QueueName queue, Entry entry) {
      boolean isGone = ((RemovableQueues) provider).delete(queue);
      if (isGone) {
        log.record(entry.apply(1));
      }
      return isGone;
    }

    @Override
    public boolean discard(QueueName queue, String id, Entry entry) {
      boolean isGone = ((DeadLetterQueues) provider).discard(queue, id);
      if (isGone) {
        log.record(entry.apply(1));
      }
      return isGone;
    }
  }
}
