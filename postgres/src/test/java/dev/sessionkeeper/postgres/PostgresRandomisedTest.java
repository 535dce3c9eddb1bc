package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.DelegatingProvider;
import dev.sessionkeeper.testkit.RandomisedRun;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The processor on a database that cuts connections at random moments. Sends and settlements with
 * an unknown outcome are looked up and repeated; nothing is lost, repeated or overtaken.
 */
@Execution(ExecutionMode.SAME_THREAD)
class PostgresRandomisedTest {
  private static final QueueName QUEUE = QueueName.of("randomised");
  private static final long SEED = 13;
  private static final int CUTS = 12;

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void nothingIsOvertakenSharedOrLostWhileConnectionsBreak(int carryFrom) throws Exception {
    var cut = new AtomicInteger();
    // Small pages, so that many of them are read while others send.
    var options = PostgresOptions.ofDefaults().withCarryFrom(carryFrom).withPage(8);
    try (var database = TestDatabase.start();
        var provider = PostgresQueueProvider.create(database.pool(), options)) {
      // Short: a claim whose answer is lost keeps its sessions until the lease runs out.
      provider.declare(
          QUEUE,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(5))
              .withMaxDeliveryCount(1000));

      var report =
          RandomisedRun.on(provider, QUEUE, SEED)
              .troubled(CUTS, () -> cut.addAndGet(database.cutConnections()))
              .run(Duration.ofSeconds(300));

      assertThat(report.violations()).as("%s", report).isEmpty();
      assertThat(report.sent()).isEqualTo(20_000);
      assertThat(report.completed() + report.deadLetters()).isGreaterThanOrEqualTo(20_000);
      assertThat(provider.stats(QUEUE).depth()).isZero();
      assertThat(cut.get()).as("connections cut").isGreaterThanOrEqualTo(CUTS);
    }
  }

  /**
   * Each processor belongs to one of two processes, and each process wants its share of the queue.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, CUTS})
  void nothingIsOvertakenSharedOrLostWhileProcessesShareTheQueue(int cuts) throws Exception {
    var cut = new AtomicInteger();
    var options = PostgresOptions.ofDefaults().withCarryFrom(0).withPage(8);
    try (var database = TestDatabase.start();
        var one = PostgresQueueProvider.create(database.pool(), options);
        var other = PostgresQueueProvider.create(database.pool(), options)) {
      one.declare(
          QUEUE,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(5))
              .withMaxDeliveryCount(1000));
      var next = new AtomicInteger();
      var both =
          new DelegatingProvider(one) {
            @Override
            public SessionSource sessions(QueueName queue) {
              return (next.incrementAndGet() % 2 == 0 ? one : other).sessions(queue);
            }
          };

      var run = RandomisedRun.on(both, QUEUE, SEED + 1 + cuts);
      var report =
          (cuts == 0 ? run : run.troubled(cuts, () -> cut.addAndGet(database.cutConnections())))
              .run(Duration.ofSeconds(300));

      assertThat(report.violations()).as("%s", report).isEmpty();
      assertThat(report.sent()).isEqualTo(20_000);
      assertThat(one.stats(QUEUE).depth()).isZero();
      assertThat(cut.get()).as("connections cut").isGreaterThanOrEqualTo(cuts);
    }
  }
}
