package dev.sessionkeeper.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.testkit.RandomisedRun;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;

/** Processors over an SQS whose answers get lost and whose receipts expire. */
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SQS_REGION", matches = ".+")
@Tag("slow")
class SqsRandomisedTest {
  private static final QueueName QUEUE = QueueName.of("randomised");
  private static final long SEED = 12;

  @Test
  void nothingIsOvertakenSharedOrLostWhileSqsMisbehaves() throws Exception {
    var answers = new LoseAnswers(SEED);
    var receipts = new RefuseExpiredReceipts();
    var expired = new AtomicInteger();
    try (var sqs = TestSqs.start(receipts, answers);
        var provider = sqs.provider(TimeSource.system(), new MemorySessionStateStore())) {
      provider.declare(
          QUEUE,
          QueueSettings.ordered()
              .withLockDuration(Duration.ofSeconds(3))
              .withMaxDeliveryCount(1000));
      answers.begin(40);

      var report =
          RandomisedRun.on(provider, QUEUE, SEED)
              .ofSize(12, 400)
              .troubled(8, () -> expired.addAndGet(receipts.expireAll()))
              .run(Duration.ofSeconds(240));

      answers.end();
      assertThat(report.violations()).as("%s", report).isEmpty();
      assertThat(report.completed() + report.deadLetters()).isGreaterThanOrEqualTo(400);
      assertThat(answers.count()).as("lost answers").isPositive();
      assertThat(expired.get()).as("expired receipts").isPositive();
    }
  }
}
