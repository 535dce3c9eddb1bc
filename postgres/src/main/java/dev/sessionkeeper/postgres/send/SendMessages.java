package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.postgres.batch.ReaderBuckets;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.queue.CountShard;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import dev.sessionkeeper.store.SqlErrors;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Stores the messages of one queue. Sends that meet share one statement and one commit; each caller
 * gets its own outcomes.
 *
 * <p>After a broken connection the outcome is unknown. The process then looks up the ids: messages
 * that it finds are stored, and it sends the others again under the same ids, which the duplicate
 * window makes harmless. Without a window the caller gets {@code OutcomeUnknown}.
 *
 * <p>An id may be in an application's transaction that is still open. Such a send waits alone, on a
 * thread of its own, until that transaction ends or {@link #PATIENCE} is over.
 */
public final class SendMessages {
  /** The most messages of one statement; a single larger send is stored alone. */
  private static final int MOST_MESSAGES = 1000;

  private static final int MOST_CALLS = 512;

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration TRY_AGAIN = Duration.ofMillis(20);

  private final QueueContext queue;
  private final Connections connections;
  private final CountShard shard;
  private final ReaderBuckets parts;
  private final AfterCommit afterCommit;
  private final TimeSource time;
  private final GroupCalls<Call> group;

  /**
   * Ids of sends that wait for an open transaction. Another send with one of these ids waits too.
   */
  private final Set<MessageId> held = ConcurrentHashMap.newKeySet();

  public SendMessages(QueueContext queue, ReaderBuckets parts, AfterCommit afterCommit) {
    this.queue = queue;
    this.connections = queue.connections();
    this.shard = queue.node().sent();
    this.parts = parts;
    this.time = queue.time();
    this.afterCommit = afterCommit;
    this.group =
        new GroupCalls<>(
            "keeper-send-" + queue.name(),
            MOST_CALLS,
            Rhythm.together(queue.time()),
            this::sendAll);
  }

  /** Runs after every commit. */
  @FunctionalInterface
  public interface AfterCommit {
    void sent(boolean areSendersHeldUp);
  }

  private record Call(List<Message> messages, CompletableFuture<List<SendOutcome>> answer) {}

  public List<SendOutcome> send(List<Message> messages) {
    if (messages.isEmpty()) {
      return List.of();
    }
    var call = new Call(messages, new CompletableFuture<>());
    if (!held.isEmpty() && messages.stream().anyMatch(message -> held.contains(message.id()))) {
      waitAlone(call);
    } else {
      group.add(call);
    }
    try {
      return call.answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof KeeperException known ? known : e;
    }
  }

  /**
   * Stores messages on the caller's connection: they are stored if and only if its transaction
   * commits.
   */
  public List<SendOutcome> sendWithin(
      Connection connection, List<Message> messages, Map<MessageId, UUID> bodies)
      throws SQLException {
    if (messages.isEmpty()) {
      return List.of();
    }
    var batch =
        SendBatch.within(
            new SendBatch.Target(queue.queue().mode(), bodies, parts.known()), List.of(messages));
    try {
      return batch.outcomes(batch.store(connection, queue.id(), -1)).get(0);
    } catch (SQLException e) {
      if (SqlErrors.isWrongIsolation(e)) {
        throw SqlErrors.translate(e);
      }
      throw e;
    }
  }

  private void sendAll(List<Call> calls) {
    var together = new ArrayList<Call>();
    int count = 0;
    for (var call : calls) {
      if (!together.isEmpty() && count + call.messages.size() > MOST_MESSAGES) {
        sendGroup(together);
        together = new ArrayList<>();
        count = 0;
      }
      together.add(call);
      count += call.messages.size();
    }
    sendGroup(together);
    afterCommit.sent(group.areCallersHeldUp());
  }

  private void sendGroup(List<Call> calls) {
    try {
      var batch =
          SendBatch.of(queue.queue().mode(), calls.stream().map(Call::messages).toList(), lately());
      var outcomes = batch.outcomes(store(batch));
      group.answers();
      for (int i = 0; i < calls.size(); i++) {
        calls.get(i).answer.complete(outcomes.get(i));
      }
    } catch (KeeperException.Rejected e) {
      refuse(calls, e);
    } catch (IdHeld e) {
      if (calls.size() > 1) {
        calls.forEach(call -> sendGroup(List.of(call)));
      } else {
        waitAlone(calls.get(0));
      }
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  private long[] lately() {
    return queue.queue().mode() == QueueMode.ORDERED ? parts.lately() : parts.known();
  }

  /** Retries the batch one send at a time, so that only the invalid send fails. */
  private void refuse(List<Call> calls, KeeperException.Rejected reason) {
    if (calls.size() == 1) {
      calls.get(0).answer.completeExceptionally(reason);
    } else {
      calls.forEach(call -> sendGroup(List.of(call)));
    }
  }

  /** Reports that an open transaction has one of the ids; nothing was stored. */
  private static final class IdHeld extends RuntimeException {
    private static final long serialVersionUID = 1;

    IdHeld(SQLException cause) {
      super(cause);
    }
  }

  private void waitAlone(Call call) {
    call.messages.forEach(message -> held.add(message.id()));
    Thread.ofVirtual()
        .name("keeper-send-alone-" + queue.name())
        .start(
            () -> {
              try {
                call.answer.complete(storeWhenFree(call));
                afterCommit.sent(group.areCallersHeldUp());
              } catch (RuntimeException e) {
                call.answer.completeExceptionally(e);
              } finally {
                call.messages.forEach(message -> held.remove(message.id()));
              }
            });
  }

  private List<SendOutcome> storeWhenFree(Call call) {
    long began = time.nanoTime();
    while (true) {
      try {
        var batch = SendBatch.of(queue.queue().mode(), List.of(call.messages), lately());
        return batch.outcomes(store(batch)).get(0);
      } catch (IdHeld e) {
        if (time.since(began).compareTo(PATIENCE) > 0) {
          throw new KeeperException.Unavailable("An id that an open transaction sends, too,", e);
        }
        LockSupport.parkNanos(TRY_AGAIN.toNanos());
      }
    }
  }

  private Map<UUID, SendBatch.Place> store(SendBatch batch) {
    var found = new HashMap<UUID, SendBatch.Place>();
    var left = batch;
    for (int attempt = 1; ; attempt++) {
      var now = left;
      try {
        found.putAll(
            connections.tryCall(connection -> now.store(connection, queue.id(), shard.next())));
        return found;
      } catch (SQLException e) {
        if (SqlErrors.isLockTimeout(e)) {
          throw new IdHeld(e);
        }
        if (!SqlErrors.isConnectionLoss(e)) {
          throw SqlErrors.translate(e);
        }
        if (!Connections.mayRepeatAfter(attempt)) {
          throw new KeeperException.OutcomeUnknown("Sending to " + queue.name(), e);
        }
        Connections.pause(attempt + 4);
        var seen = lookUp(now, e);
        found.putAll(seen);
        left = now.without(seen.keySet());
        if (left.isEmpty()) {
          return found;
        }
      }
    }
  }

  private Map<UUID, SendBatch.Place> lookUp(SendBatch batch, SQLException cause) {
    try {
      return connections.tryCall(connection -> batch.lookUp(connection, queue.id()));
    } catch (SQLException e) {
      cause.addSuppressed(e);
      return Map.of();
    } catch (SendBatch.NotRemembered e) {
      throw new KeeperException.OutcomeUnknown("Sending to " + queue.name(), cause);
    }
  }
}
