package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.prefetch.PrefetchBudget;
import dev.sessionkeeper.processor.SessionProcessor;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large payloads and little memory: a process prefetches no more than its budget. */
@Execution(ExecutionMode.SAME_THREAD)
class BodyMemoryTest {
  private static final int MEGABYTE = 1 << 20;
  private static final int SESSIONS = 8;
  private static final int EACH = 12;
  private static final long MOST = 4L * MEGABYTE;
  private static final AtomicInteger queues = new AtomicInteger();

  private static TestDatabase database;

  @BeforeAll
  static void start() {
    database = TestDatabase.start();
  }

  @AfterAll
  static void stop() {
    database.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void everyMessageIsHandledOnceWithinTheLimit(int carryFrom) throws Exception {
    var queue = QueueName.of("large-" + queues.incrementAndGet());
    var attempts = new ConcurrentLinkedQueue<Integer>();
    var most = new AtomicLong();
    try (var provider = provider(carryFrom)) {
      provider.declare(
          queue,
          QueueSettings.ordered().withLockDuration(Duration.ofSeconds(10)).withMaxDeliveryCount(1));
      send(provider, queue, EACH);
      try (var processor =
          SessionProcessor.builder(
                  provider,
                  queue,
                  (delivery, session) -> {
                    most.accumulateAndGet(provider.bodiesInMemory(), Math::max);
                    attempts.add(delivery.attempt());
                    return Settlement.complete();
                  })
              .maxConcurrentSessions(SESSIONS)
              .build()
              .start()) {
        await()
            .atMost(Duration.ofSeconds(60))
            .untilAsserted(() -> assertThat(attempts).hasSizeGreaterThanOrEqualTo(SESSIONS * EACH));
      }
      assertThat(attempts).containsOnly(1).hasSize(SESSIONS * EACH);
      assertThat(provider.stats(queue).deadLetters()).isZero();
      assertThat(most.get()).as("bytes ahead of handlers").isLessThanOrEqualTo(MOST + MEGABYTE);
      assertThat(provider.bodiesInMemory()).as("left over").isZero();
    }
  }

  /** The budget belongs to the process, and a queue with slow handlers stops no other. */
  @ParameterizedTest
  @ValueSource(ints = {0, PostgresOptions.NEVER})
  void aQueueThatFillsTheMemoryStopsNoOther(int carryFrom) throws Exception {
    var slow = QueueName.of("slow-" + queues.incrementAndGet());
    var quick = QueueName.of("quick-" + queues.incrementAndGet());
    var handled = new AtomicInteger();
    var begun = new AtomicInteger();
    var goOn = new CountDownLatch(1);
    try (var provider = provider(carryFrom)) {
      provider.declare(slow, QueueSettings.ordered());
      provider.declare(quick, QueueSettings.ordered());
      send(provider, slow, 4);
      try (var first =
              SessionProcessor.builder(
                      provider,
                      slow,
                      (delivery, session) -> {
                        begun.incrementAndGet();
                        goOn.await();
                        return Settlement.complete();
                      })
                  .maxConcurrentSessions(2)
                  .build()
                  .start();
          AutoCloseable opens = goOn::countDown) {
        await().atMost(Duration.ofSeconds(10)).until(() -> begun.get() == 2);
        send(provider, quick, 2);
        try (var second =
            SessionProcessor.builder(
                    provider,
                    quick,
                    (delivery, session) -> {
                      handled.incrementAndGet();
                      return Settlement.complete();
                    })
                .build()
                .start()) {
          await().atMost(Duration.ofSeconds(20)).until(() -> handled.get() == 2 * SESSIONS);
        }
        assertThat(provider.bodiesInMemory()).isLessThanOrEqualTo(MOST + MEGABYTE);
      }
    }
  }

  @Test
  void roomIsToldToThoseWhoWaitForIt() {
    var told = new AtomicInteger();
    var memory = new PrefetchBudget(100);
    var one = memory.share(told::incrementAndGet);
    var other = memory.share(told::incrementAndGet);
    one.add(120);
    assertThat(one.room()).isZero();
    assertThat(other.room()).as("one message").isEqualTo(1);
    one.remove(10);
    assertThat(told).hasValue(0);
    one.remove(20);
    assertThat(told).hasValue(2);
    assertThat(one.room()).isEqualTo(10);
  }

  private static PostgresQueueProvider provider(int carryFrom) {
    return PostgresQueueProvider.create(
        database.pool(),
        PostgresOptions.ofDefaults().withCarryFrom(carryFrom).withBodyMemory(MOST));
  }

  private static void send(PostgresQueueProvider provider, QueueName queue, int each) {
    var body = Payload.text("x".repeat(MEGABYTE - 64));
    for (int n = 0; n < each; n++) {
      provider.send(
          queue,
          IntStream.range(0, SESSIONS)
              .mapToObj(i -> Message.of(SessionId.of("s" + i), body))
              .toList());
    }
  }
}
