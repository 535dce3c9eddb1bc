package dev.sessionkeeper.spring;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.MessageHandler;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Spring's transactions on the database of the queues: listeners settle in them, and sends join
 * them.
 *
 * <p>The provider and the transaction manager must use the same {@code DataSource}. Safe for many
 * threads.
 */
public final class PostgresTransactions implements ListenerTransactions, MessageSender {
  private final PostgresQueueProvider provider;
  private final DataSource source;
  private final SpringHandlerTransactions transactions;

  public PostgresTransactions(
      PostgresQueueProvider provider, DataSource source, PlatformTransactionManager manager) {
    this.provider = provider;
    this.source = unwrapped(source);
    this.transactions =
        new SpringHandlerTransactions(new TransactionTemplate(manager), this.source);
  }

  private static DataSource unwrapped(DataSource source) {
    var target = source;
    while (target instanceof TransactionAwareDataSourceProxy proxy
        && proxy.getTargetDataSource() != null) {
      target = proxy.getTargetDataSource();
    }
    return target;
  }

  @Override
  public MessageHandler transactional(QueueName queue, MessageHandler handler) {
    transactions.requireSameDataSource();
    return provider.transactional(
        queue, (delivery, session, connection) -> handler.handle(delivery, session), transactions);
  }

  @Override
  public BatchHandler transactionalBatches(QueueName queue, BatchHandler handler) {
    transactions.requireSameDataSource();
    return provider.transactionalBatches(
        queue,
        (deliveries, session, connection) -> handler.handle(deliveries, session),
        transactions);
  }

  @Override
  public List<SendOutcome> send(QueueName queue, List<Message> messages) {
    if (!TransactionSynchronizationManager.isSynchronizationActive()
        || !TransactionSynchronizationManager.hasResource(source)) {
      return provider.send(queue, messages);
    }
    var connection = DataSourceUtils.getConnection(source);
    try {
      var outcomes = provider.send(connection, queue, messages);
      WakeAfterCommit.current(provider).add(queue);
      return outcomes;
    } catch (SQLException e) {
      throw new KeeperException.Unavailable("The database of queue " + queue, e);
    } finally {
      DataSourceUtils.releaseConnection(connection, source);
    }
  }

  /** Notifies consumers of the queues to which one transaction sent, after its commit. */
  private static final class WakeAfterCommit implements TransactionSynchronization {
    private final PostgresQueueProvider provider;
    private final Set<QueueName> queues = new LinkedHashSet<>();

    private WakeAfterCommit(PostgresQueueProvider provider) {
      this.provider = provider;
    }

    static WakeAfterCommit current(PostgresQueueProvider provider) {
      var known = find(provider);
      if (known.isPresent()) {
        return known.get();
      }
      var first = new WakeAfterCommit(provider);
      TransactionSynchronizationManager.registerSynchronization(first);
      return first;
    }

    private static Optional<WakeAfterCommit> find(PostgresQueueProvider provider) {
      return TransactionSynchronizationManager.getSynchronizations().stream()
          .filter(WakeAfterCommit.class::isInstance)
          .map(WakeAfterCommit.class::cast)
          .filter(each -> each.provider.equals(provider))
          .findFirst();
    }

    void add(QueueName queue) {
      queues.add(queue);
    }

    @Override
    public void afterCommit() {
      queues.forEach(provider::wake);
    }
  }
}
