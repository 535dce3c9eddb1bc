package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.jdbc.Connections;
import dev.sessionkeeper.postgres.lease.OwnedSessions;
import dev.sessionkeeper.postgres.queue.QueueContext;
import dev.sessionkeeper.postgres.settle.SettleCall;
import dev.sessionkeeper.postgres.settle.SettleEach;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/**
 * Calls transactional handlers and settles their messages on the handler's connection, right before
 * the commit. The session's row is locked only for that moment. If the lease was lost meanwhile,
 * everything is rolled back.
 *
 * <p>The processor then sends the handler's settlement as usual, and the hold skips it, because it
 * is already stored.
 */
final class RunInTransaction {
  /** Handlers add to a row of counts of their own, so that they do not wait for each other. */
  private static final long NO_SHARD = -1;

  private final QueueContext queue;
  private final OwnedSessions owned;
  private final HandlerTransactions transactions;

  /** Runs handlers in transactions of the provider. */
  RunInTransaction(QueueContext queue, OwnedSessions owned) {
    this.queue = queue;
    this.owned = owned;
    this.transactions = this::callInOwnTransaction;
  }

  /** Runs handlers in transactions of the application. */
  RunInTransaction(QueueContext queue, OwnedSessions owned, HandlerTransactions transactions) {
    this.queue = queue;
    this.owned = owned;
    this.transactions = new WithinPool(queue.connections(), transactions);
  }

  MessageHandler handler(TransactionalHandler handler) {
    return (delivery, session) ->
        call(
            List.of(delivery),
            session,
            (context, connection) -> {
              var settlement = handler.handle(delivery, context, connection);
              return new Decided<>(settlement, List.of(settlement));
            });
  }

  BatchHandler batchHandler(TransactionalBatchHandler handler) {
    return (deliveries, session) ->
        call(
            deliveries,
            session,
            (context, connection) -> {
              var settlement = handler.handle(deliveries, context, connection);
              return new Decided<>(settlement, settlement.settlements(deliveries.size()));
            });
  }

  private <T> T call(List<Delivery> deliveries, SessionContext session, Call<T> handler)
      throws Exception {
    var held =
        owned
            .find(session.id(), session.epoch())
            .orElseThrow(
                () -> new KeeperException.LockLost("session " + session.id(), session.epoch()));
    held.requireRow();
    // The effect of this message must not be durable before the end of the one before it.
    held.settling().awaitBefore(deliveries.get(0).sequence());
    var decided = transactions.call(connection -> call(session, deliveries, connection, handler));
    held.settling().settledByTransaction(decided.settled(deliveries));
    return decided.answer();
  }

  private <T> Decided<T> call(
      SessionContext session, List<Delivery> deliveries, Connection connection, Call<T> handler)
      throws Exception {
    var context = new Within(session);
    var decided = handler.run(context, connection);
    settle(connection, session, decided.settled(deliveries), context.state);
    return decided;
  }

  /** The application's handler, for one message or for a batch. */
  @FunctionalInterface
  private interface Call<T> {
    Decided<T> run(SessionContext session, Connection connection) throws Exception;
  }

  /** The result of a handler, and the settlements of the first messages. */
  private record Decided<T>(T answer, List<Settlement> settlements) {
    List<Settled> settled(List<Delivery> deliveries) {
      return IntStream.range(0, settlements.size())
          .mapToObj(i -> new Settled(deliveries.get(i).sequence(), settlements.get(i)))
          .toList();
    }
  }

  private <T> T callInOwnTransaction(HandlerTransactions.Work<T> work) throws Exception {
    return queue.connections().callForHandler(connection -> commitAfter(work, connection));
  }

  private static <T> T commitAfter(HandlerTransactions.Work<T> work, Connection connection)
      throws Exception {
    connection.setAutoCommit(false);
    try {
      var result = work.run(connection);
      commit(connection);
      return result;
    } catch (Exception e) {
      rollBack(connection, e);
      throw e;
    }
  }

  /**
   * Limits how many connections of a shared pool handlers use, so that renewals never wait for
   * handlers.
   */
  private record WithinPool(Connections connections, HandlerTransactions transactions)
      implements HandlerTransactions {
    @Override
    public <T> T call(Work<T> work) throws Exception {
      return connections.callForHandler((Callable<T>) () -> transactions.call(work));
    }
  }

  private void settle(
      Connection connection,
      SessionContext session,
      List<Settled> settled,
      Optional<SessionState.Write> state)
      throws SQLException {
    try {
      var call = new SettleCall(session.id(), session.epoch(), false, settled, false, state);
      SettleEach.runAlone(connection, queue.id(), NO_SHARD, call);
    } catch (SQLException e) {
      if (SqlErrors.isWrongIsolation(e)) {
        throw SqlErrors.translate(e);
      }
      throw e;
    }
  }

  private static void commit(Connection connection) throws SQLException {
    try {
      connection.commit();
    } catch (SQLException e) {
      if (SqlErrors.isConnectionLoss(e)) {
        throw new KeeperException.OutcomeUnknown("A handler's transaction", e);
      }
      throw e;
    }
  }

  private static void rollBack(Connection connection, Exception failure) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  /** The session as the handler sees it; keeps a state write for the settlement. */
  private static final class Within implements SessionContext {
    private final SessionContext session;
    private Optional<SessionState.Write> state = Optional.empty();

    Within(SessionContext session) {
      this.session = session;
    }

    @Override
    public SessionId id() {
      return session.id();
    }

    @Override
    public long epoch() {
      return session.epoch();
    }

    @Override
    public boolean isLockHeld() {
      return session.isLockHeld();
    }

    @Override
    public Instant lockedUntil() {
      return session.lockedUntil();
    }

    @Override
    public SessionState state() {
      return session.state();
    }

    @Override
    public SessionState writeState(SessionState.Write write) {
      return session.writeState(write);
    }

    @Override
    public void writeStateOnSettle(SessionState.Write write) {
      state = Optional.of(write);
    }

    @Override
    public void releaseSession() {
      session.releaseSession();
    }
  }
}
