package dev.sessionkeeper.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.processor.BatchSettlement;
import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionkeeperTemplate;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Entities and settlements in one transaction of a JPA transaction manager, with Hibernate. */
@Tag("slow")
class JpaTest {
  record OrderPlaced(String customer, int number) {}

  /**
   * A booked order; a second one with the same number violates the primary key, which Hibernate
   * detects at the flush.
   */
  @Entity(name = "booked")
  static class Booked {
    @Id int number;

    protected Booked() {}

    Booked(int number) {
      this.number = number;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EntityScan(basePackageClasses = JpaTest.class)
  static class Shop {
    @Bean(destroyMethod = "close")
    EmbeddedPostgres postgres() {
      return EmbeddedPostgres.temporaryWithoutSync();
    }

    @Bean
    DataSource dataSource(EmbeddedPostgres postgres) {
      var pool = new HikariDataSource();
      pool.setDataSource(postgres.dataSource());
      pool.setMaximumPoolSize(8);
      return pool;
    }

    @Bean
    Ledger ledger() {
      return new Ledger();
    }
  }

  static class Ledger {
    final List<String> told = new CopyOnWriteArrayList<>();
    @PersistenceContext EntityManager entities;

    @SessionListener(queue = "orders", transactional = true)
    void book(OrderPlaced order) {
      told.add("handled " + order.number());
      entities.persist(new Booked(order.number()));
      TransactionSynchronizationManager.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void afterCommit() {
              told.add("committed " + order.number());
            }
          });
    }

    @SessionListener(queue = "batches", batch = "10", transactional = true)
    BatchSettlement bookAll(List<OrderPlaced> orders) {
      told.add("handled " + orders.size());
      orders.forEach(order -> entities.persist(new Booked(order.number())));
      return BatchSettlement.complete();
    }
  }

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  JacksonAutoConfiguration.class,
                  HibernateJpaAutoConfiguration.class,
                  SessionkeeperAutoConfiguration.class))
          .withUserConfiguration(Shop.class)
          .withPropertyValues(
              "spring.jpa.hibernate.ddl-auto=create",
              "sessionkeeper.listener.retry.delay=1ms",
              "sessionkeeper.queues.orders.max-delivery-count=2",
              "sessionkeeper.queues.batches.max-delivery-count=2");

  private void inShop(Consumer<AssertableApplicationContext> work) {
    runner.run(
        context -> {
          assertThat(context).hasNotFailed().hasSingleBean(JpaTransactionManager.class);
          work.accept(context);
        });
  }

  private static void send(AssertableApplicationContext context, String queue, int... numbers) {
    for (int number : numbers) {
      context.getBean(SessionkeeperTemplate.class).send(queue, "c", new OrderPlaced("c", number));
    }
  }

  private static List<Integer> booked(AssertableApplicationContext context) {
    return JdbcClient.create(context.getBean(DataSource.class))
        .sql("SELECT number FROM booked ORDER BY number")
        .query(Integer.class)
        .list();
  }

  private static void awaitEmpty(AssertableApplicationContext context, String queue) {
    var provider = context.getBean(PostgresQueueProvider.class);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> provider.stats(QueueName.of(queue)).depth() == 0);
  }

  @Test
  void anEntityAndTheSettlementOfItsMessageCommitTogether() {
    inShop(
        context -> {
          send(context, "orders", 1, 2, 1, 3);
          awaitEmpty(context, "orders");
          assertThat(booked(context)).containsExactly(1, 2, 3);
          assertThat(context.getBean(Ledger.class).told)
              .as(
                  "the second order 1 fails at the flush, is tried again, and becomes a dead letter")
              .containsExactly(
                  "handled 1",
                  "committed 1",
                  "handled 2",
                  "committed 2",
                  "handled 1",
                  "handled 1",
                  "handled 3",
                  "committed 3");
          var provider = context.getBean(PostgresQueueProvider.class);
          assertThat(provider.stats(QueueName.of("orders")).deadLetters()).isEqualTo(1);
        });
  }

  @Test
  void aBatchOfEntitiesCommitsAsAWhole() {
    inShop(
        context -> {
          var transaction = new TransactionTemplate(context.getBean(JpaTransactionManager.class));
          transaction.executeWithoutResult(status -> send(context, "batches", 1, 2, 3));
          awaitEmpty(context, "batches");
          assertThat(booked(context)).containsExactly(1, 2, 3);
          assertThat(context.getBean(Ledger.class).told).containsExactly("handled 3");
        });
  }

  @Test
  void aSendJoinsTheTransactionOfTheEntityManager() {
    inShop(
        context -> {
          var transaction = new TransactionTemplate(context.getBean(JpaTransactionManager.class));
          transaction.executeWithoutResult(
              status -> {
                send(context, "orders", 7);
                status.setRollbackOnly();
              });
          transaction.executeWithoutResult(status -> send(context, "orders", 8));
          awaitEmpty(context, "orders");
          assertThat(booked(context)).containsExactly(8);
        });
  }
}
