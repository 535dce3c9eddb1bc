package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import dev.sessionkeeper.store.SqlErrors;
import dev.sessionkeeper.time.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Stores the messages of one queue. Sends that meet leave as one statement and one commit; every
 * caller gets its own answer.
 *
 * <p>When the connection breaks it is not known whether the group was stored. Then its ids are
 * looked up: those that are there are stored, the others are sent again under the same ids, which
 * the duplicate window makes harmless. Without a window the caller is told that it is not known.
 */
final class SendMessages {
  /** Messages of one statement; a single larger send goes alone. */
  private static final int MOST_MESSAGES = 1000;

  private static final int MOST_CALLS = 512;

  private final QueueTable.Known queue;
  private final Connections connections;
  private final long shard;
  private final AfterCommit afterCommit;
  private final GroupCalls<Call> group;

  SendMessages(
      QueueTable.Known queue,
      Connections connections,
      TimeSource time,
      long shard,
      AfterCommit afterCommit) {
    this.queue = queue;
    this.connections = connections;
    this.shard = shard;
    this.afterCommit = afterCommit;
    this.group =
        new GroupCalls<>(
            "keeper-send-" + queue.name(), MOST_CALLS, Rhythm.together(time), this::sendAll);
  }

  /** Is told of every commit, and whether senders come as fast as they are answered. */
  @FunctionalInterface
  interface AfterCommit {
    void sent(boolean areSendersHeldUp);
  }

  private record Call(List<Message> messages, CompletableFuture<List<SendOutcome>> answer) {}

  List<SendOutcome> send(List<Message> messages) {
    if (messages.isEmpty()) {
      return List.of();
    }
    var call = new Call(messages, new CompletableFuture<>());
    group.add(call);
    try {
      return call.answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof KeeperException known ? known : e;
    }
  }

  /** Stores messages on the caller's connection: they are there if its transaction commits. */
  List<SendOutcome> sendWithin(
      Connection connection, List<Message> messages, Map<MessageId, UUID> bodies)
      throws SQLException {
    if (messages.isEmpty()) {
      return List.of();
    }
    var batch = MessageBatch.within(queue.mode(), List.of(messages), bodies);
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
      var batch = MessageBatch.of(queue.mode(), calls.stream().map(Call::messages).toList());
      var outcomes = batch.outcomes(store(batch));
      group.answers();
      for (int i = 0; i < calls.size(); i++) {
        calls.get(i).answer.complete(outcomes.get(i));
      }
    } catch (KeeperException.Rejected e) {
      refuse(calls, e);
    } catch (RuntimeException e) {
      calls.forEach(call -> call.answer.completeExceptionally(e));
    }
  }

  /** One of them cannot be stored; the others must not suffer. */
  private void refuse(List<Call> calls, KeeperException.Rejected reason) {
    if (calls.size() == 1) {
      calls.get(0).answer.completeExceptionally(reason);
    } else {
      calls.forEach(call -> sendGroup(List.of(call)));
    }
  }

  private Map<UUID, MessageBatch.Place> store(MessageBatch batch) {
    var found = new HashMap<UUID, MessageBatch.Place>();
    var left = batch;
    for (int attempt = 1; ; attempt++) {
      var now = left;
      try {
        found.putAll(connections.tryCall(connection -> now.store(connection, queue.id(), shard)));
        return found;
      } catch (SQLException e) {
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

  private Map<UUID, MessageBatch.Place> lookUp(MessageBatch batch, SQLException cause) {
    try {
      return connections.tryCall(connection -> batch.lookUp(connection, queue.id()));
    } catch (SQLException e) {
      cause.addSuppressed(e);
      return Map.of();
    } catch (MessageBatch.NotRemembered e) {
      throw new KeeperException.OutcomeUnknown("Sending to " + queue.name(), cause);
    }
  }
}
