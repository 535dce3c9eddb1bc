package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.testkit.RandomisedRun;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The processor over a database that cuts connections in the middle of whatever they do: sends and
 * settlements whose outcome is unknown are looked up and repeated, and nothing is lost or doubled
 * out of turn.
 */
class PostgresRandomisedTest {
  private static final QueueName QUEUE = QueueName.of("randomised");
  private static final long SEED = 13;
  private static final int CUTS = 12;
  private static final String CUT =
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%keeper.%'
      """;

  @Test
  void nothingIsOvertakenSharedOrLostWhileConnectionsBreak() throws Exception {
    var cut = new AtomicInteger();
    try (var database = TestDatabase.start();
        var provider = PostgresQueueProvider.create(database.pool())) {
      // Short: a claim whose answer is lost keeps its sessions until the lease runs out.
      provider.declare(
          QUEUE,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(5))
              .withMaxDeliveryCount(1000));

      var report =
          RandomisedRun.on(provider, QUEUE, SEED)
              .troubled(CUTS, () -> cut.addAndGet(cutAll(database)))
              .run(Duration.ofSeconds(120));

      assertThat(report.violations()).as("%s", report).isEmpty();
      assertThat(report.sent()).isEqualTo(20_000);
      assertThat(report.completed() + report.deadLetters()).isGreaterThanOrEqualTo(20_000);
      assertThat(provider.stats(QUEUE).depth()).isZero();
      assertThat(cut.get()).as("connections cut").isGreaterThanOrEqualTo(CUTS);
    }
  }

  private static int cutAll(TestDatabase database) {
    try (var connection = database.postgres().dataSource().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(CUT)) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
