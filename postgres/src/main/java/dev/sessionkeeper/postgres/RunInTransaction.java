package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
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

/**
 * Calls a transactional handler and settles its message on the handler's connection, right before
 * the commit: the lane is locked for no longer than that, and a lease that was lost meanwhile rolls
 * everything back.
 *
 * <p>The processor settles what the handler returns; the lane knows then that it is done.
 */
final class RunInTransaction implements MessageHandler {
  /** Its counts go into a row of their own, so that handlers do not wait for each other. */
  private static final long NO_SHARD = -1;

  private final OrderedQueue queue;
  private final TransactionalHandler handler;
  private final HandlerTransactions transactions;

  /** A handler in transactions of the provider. */
  RunInTransaction(OrderedQueue queue, TransactionalHandler handler) {
    this.queue = queue;
    this.handler = handler;
    this.transactions = this::callInOwnTransaction;
  }

  /** A handler in transactions of the application. */
  RunInTransaction(
      OrderedQueue queue, TransactionalHandler handler, HandlerTransactions transactions) {
    this.queue = queue;
    this.handler = handler;
    this.transactions = new WithinPool(queue.connections(), transactions);
  }

  @Override
  public Settlement handle(Delivery delivery, SessionContext session) throws Exception {
    var lane =
        queue
            .held(session.id(), session.epoch())
            .orElseThrow(
                () -> new KeeperException.LockLost("session " + session.id(), session.epoch()));
    lane.requireLane();
    // The effect of this message must not be durable before the end of the one before it.
    lane.settling().awaitBefore(delivery.sequence());
    var settled = transactions.call(connection -> handle(delivery, session, connection));
    lane.settling().settledByTransaction(settled);
    return settled.settlement();
  }

  private Settled handle(Delivery delivery, SessionContext session, Connection connection)
      throws Exception {
    var context = new Within(session);
    var settlement = handler.handle(delivery, context, connection);
    var settled = new Settled(delivery.sequence(), settlement);
    settle(connection, session, settled, context.state);
    return settled;
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

  /** Leaves connections of a shared pool to the provider: renewals must not wait for handlers. */
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
      Settled settled,
      Optional<SessionState.Write> state)
      throws SQLException {
    try {
      new SettleCall(session.id(), session.epoch(), false, List.of(settled), false, state)
          .run(connection, queue.id(), NO_SHARD);
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

  /** The session as the handler sees it: a state that goes with the settlement is taken along. */
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
