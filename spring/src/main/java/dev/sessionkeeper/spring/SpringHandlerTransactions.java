package dev.sessionkeeper.spring;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.postgres.HandlerTransactions;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs handlers and their settlements in Spring's own transactions, on the connection that Spring
 * has bound: {@code afterCommit} runs after both are durable.
 */
final class SpringHandlerTransactions implements HandlerTransactions {
  private static final Logger log = LoggerFactory.getLogger(SpringHandlerTransactions.class);

  private final TransactionTemplate template;
  private final DataSource source;

  SpringHandlerTransactions(TransactionTemplate template, DataSource source) {
    this.template = template;
    this.source = source;
  }

  /**
   * Tries an empty transaction, so that a wrong transaction manager fails at the start and not with
   * the first message.
   */
  void requireSameDataSource() {
    template.executeWithoutResult(
        status -> {
          status.setRollbackOnly();
          requireBound();
        });
  }

  private void requireBound() {
    if (!TransactionSynchronizationManager.hasResource(source)) {
      throw new KeeperException.Misconfigured(
          "A transactional listener needs a transaction manager of the DataSource that has the"
              + " queues; this manager uses another one: "
              + template.getTransactionManager());
    }
  }

  @Override
  public <T> T call(Work<T> work) throws Exception {
    var run = new Run<>(work);
    try {
      template.executeWithoutResult(status -> run.inTransaction());
    } catch (Carried e) {
      throw e.failure;
    } catch (RuntimeException e) {
      if (!run.committed) {
        throw e;
      }
      log.error("An afterCommit callback failed; the message is settled all the same", e);
    }
    return run.result();
  }

  /** One transaction, with its outcome if that is known. */
  private final class Run<T> implements TransactionSynchronization {
    private final Work<T> work;
    private @Nullable T result;
    private boolean committed;

    Run(Work<T> work) {
      this.work = work;
    }

    void inTransaction() {
      requireBound();
      TransactionSynchronizationManager.registerSynchronization(this);
      var connection = DataSourceUtils.getConnection(source);
      try {
        result = work.run(connection);
      } catch (Exception e) {
        throw new Carried(e);
      } finally {
        DataSourceUtils.releaseConnection(connection, source);
      }
    }

    @Override
    public void afterCompletion(int status) {
      committed = status == STATUS_COMMITTED;
    }

    T result() {
      if (!committed || result == null) {
        // Spring does not report a rollback that the listener asked for; the message must not be
        // settled.
        throw new IllegalStateException("The listener marked its transaction for rollback");
      }
      return result;
    }
  }

  /** Carries a checked exception through Spring's template, which rolls back for it. */
  private static final class Carried extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient Exception failure;

    Carried(Exception failure) {
      super(failure);
      this.failure = failure;
    }
  }
}
