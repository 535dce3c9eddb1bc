package dev.sessionkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.BatchHandler;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.testkit.ProcessorProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Settlement and sends in Spring's own transactions, on a real PostgreSQL. */
class PostgresTransactionsTest {
  private static EmbeddedPostgres postgres;
  private static HikariDataSource pool;
  private static JdbcClient jdbc;
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final QueueName queue = QueueName.of("ledger-" + NEXT.incrementAndGet());
  private final ProcessorProbe probe = new ProcessorProbe();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private PostgresQueueProvider provider;
  private PostgresTransactions transactions;
  private TransactionTemplate inTransaction;

  @BeforeAll
  static void startDatabase() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(8);
    pool = new HikariDataSource(config);
    jdbc = JdbcClient.create(pool);
    jdbc.sql("CREATE TABLE entry (queue text, text text)").update();
  }

  @AfterAll
  static void stopDatabase() {
    pool.close();
    postgres.close();
  }

  @BeforeEach
  void create() {
    provider = PostgresQueueProvider.create(pool);
    provider.declare(queue, QueueSettings.ordered());
    var manager = new JdbcTransactionManager(pool);
    transactions = new PostgresTransactions(provider, pool, manager);
    inTransaction = new TransactionTemplate(manager);
  }

  @AfterEach
  void close() {
    provider.close();
  }

  private SessionProcessor.Builder processor(MessageHandler handler) {
    return SessionProcessor.builder(provider, queue, transactions.transactional(queue, handler))
        .retry(new RetryPolicy(3, Duration.ofMillis(1), 1, Duration.ofMillis(1), 0))
        .listener(probe);
  }

  private void send(String... texts) {
    for (var text : texts) {
      provider.send(queue, Message.of(SessionId.of("a"), Payload.text(text)));
    }
  }

  private void write(String text) {
    jdbc.sql("INSERT INTO entry VALUES (?, ?)").params(queue.value(), text).update();
  }

  private List<String> written() {
    return jdbc.sql("SELECT text FROM entry WHERE queue = ?")
        .param(queue.value())
        .query(String.class)
        .list();
  }

  private void completed(int count) throws InterruptedException {
    probe.awaitCompleted(count, Duration.ofSeconds(20));
    probe.await(Duration.ofSeconds(20), "an empty queue", () -> provider.stats(queue).depth() == 0);
  }

  @Test
  void theEffectAndTheSettlementCommitTogetherAndAfterCommitComesAfter()
      throws InterruptedException {
    send("one", "two");
    try (var processor =
        processor(
                (delivery, session) -> {
                  write(delivery.payload().asText());
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                          told.add(
                              delivery.payload().asText()
                                  + " depth "
                                  + provider.stats(queue).depth());
                        }
                      });
                  return Settlement.complete();
                })
            .build()
            .start()) {
      completed(2);
    }
    assertThat(written()).containsExactly("one", "two");
    assertThat(told).containsExactly("one depth 1", "two depth 0");
  }

  @Test
  void aFailureRollsTheEffectBackAndTheMessageComesAgain() throws InterruptedException {
    var first = new AtomicBoolean(true);
    send("one");
    try (var processor =
        processor(
                (delivery, session) -> {
                  write("attempt " + delivery.attempt());
                  if (first.getAndSet(false)) {
                    throw new IOException("checked, and rolled back all the same");
                  }
                  return Settlement.complete();
                })
            .build()
            .start()) {
      completed(1);
    }
    assertThat(written()).containsExactly("attempt 2");
    assertThat(probe.failures().get(0).error()).isInstanceOf(IOException.class);
  }

  @Test
  void aTransactionThatIsMarkedForRollbackSettlesNothing() throws InterruptedException {
    var first = new AtomicBoolean(true);
    send("one");
    try (var processor =
        processor(
                (delivery, session) -> {
                  write("attempt " + delivery.attempt());
                  if (first.getAndSet(false)) {
                    inTransaction.executeWithoutResult(status -> status.setRollbackOnly());
                  }
                  return Settlement.complete();
                })
            .build()
            .start()) {
      completed(1);
    }
    assertThat(written()).containsExactly("attempt 2");
  }

  @Test
  void anAfterCommitCallbackThatFailsDoesNotHandleTheMessageAgain() throws InterruptedException {
    send("one", "two");
    try (var processor =
        processor(
                (delivery, session) -> {
                  write(delivery.payload().asText());
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                          throw new IllegalStateException("mail server down");
                        }
                      });
                  return Settlement.complete();
                })
            .build()
            .start()) {
      completed(2);
    }
    assertThat(written()).containsExactly("one", "two");
    assertThat(probe.retried()).isEmpty();
  }

  @Test
  void aSendJoinsTheTransactionOfItsCaller() {
    var template = new SessionkeeperTemplate(transactions, type -> dev.sessionkeeper.Codec.text());
    inTransaction.executeWithoutResult(
        status -> {
          template.send(queue.value(), "a", "lost");
          status.setRollbackOnly();
        });
    assertThat(provider.stats(queue).depth()).isZero();

    inTransaction.executeWithoutResult(
        status -> {
          template.send(queue.value(), "a", "kept");
          assertThat(provider.stats(queue).depth()).isZero();
        });
    assertThat(provider.stats(queue).depth()).isEqualTo(1);

    template.send(queue.value(), "a", "without a transaction");
    assertThat(provider.stats(queue).depth()).isEqualTo(2);
  }

  private SessionProcessor.Builder batches(BatchHandler handler) {
    return SessionProcessor.batches(
            provider, queue, 10, transactions.transactionalBatches(queue, handler))
        .retry(new RetryPolicy(3, Duration.ofMillis(1), 1, Duration.ofMillis(1), 0))
        .listener(probe);
  }

  private static List<String> textsOf(List<Delivery> batch) {
    return batch.stream().map(delivery -> delivery.payload().asText()).toList();
  }

  @Test
  void theEffectsOfABatchAndItsSettlementsAreOneTransaction() throws InterruptedException {
    send("one", "two", "three");
    try (var processor =
        batches(
                (batch, session) -> {
                  batch.forEach(delivery -> write(delivery.payload().asText()));
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                          told.add(textsOf(batch) + " depth " + provider.stats(queue).depth());
                        }
                      });
                  return BatchSettlement.complete();
                })
            .build()
            .start()) {
      completed(3);
    }
    assertThat(written()).containsExactly("one", "two", "three");
    assertThat(told).containsExactly("[one, two, three] depth 0");
  }

  @Test
  void aBatchThatIsCompletedUpToAPlaceSettlesThatMuch() throws InterruptedException {
    send("one", "two", "three");
    try (var processor =
        batches(
                (batch, session) -> {
                  told.add(textsOf(batch).toString());
                  var part = batch.subList(0, Math.min(2, batch.size()));
                  part.forEach(delivery -> write(delivery.payload().asText()));
                  return BatchSettlement.upTo(part.size());
                })
            .build()
            .start()) {
      completed(3);
    }
    assertThat(told).containsExactly("[one, two, three]", "[three]");
    assertThat(written()).containsExactly("one", "two", "three");
    assertThat(probe.completed()).extracting(Delivery::attempt).containsOnly(1);
  }

  @Test
  void aBatchThatFailsIsRolledBackAndItsMessagesComeOneAtATime() throws InterruptedException {
    var first = new AtomicBoolean(true);
    send("one", "two", "three");
    try (var processor =
        batches(
                (batch, session) -> {
                  told.add(textsOf(batch).toString());
                  batch.forEach(delivery -> write(delivery.payload().asText()));
                  if (first.getAndSet(false)) {
                    throw new IOException("after all three were written");
                  }
                  return BatchSettlement.complete();
                })
            .build()
            .start()) {
      completed(3);
    }
    assertThat(told).containsExactly("[one, two, three]", "[one]", "[two]", "[three]");
    assertThat(written()).containsExactly("one", "two", "three");
  }

  @Test
  void aManagerOfAnotherDataSourceIsRefusedBeforeTheFirstMessage() {
    try (var other = new HikariDataSource(config())) {
      var wrong = new PostgresTransactions(provider, pool, new DataSourceTransactionManager(other));
      assertThatThrownBy(
              () -> wrong.transactional(queue, (delivery, session) -> Settlement.complete()))
          .isInstanceOf(KeeperException.Misconfigured.class)
          .hasMessageContaining("DataSource that has the queues");
      assertThatThrownBy(
              () ->
                  wrong.transactionalBatches(queue, (batch, session) -> BatchSettlement.complete()))
          .isInstanceOf(KeeperException.Misconfigured.class);
    }
  }

  private static HikariConfig config() {
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(2);
    return config;
  }
}
