package dev.sessionkeeper.processor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.RandomisedRun;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@Tag("slow")
class RandomisedRunTest {
  private static final QueueName QUEUE = QueueName.of("run");
  private static final QueueSettings SETTINGS =
      QueueSettings.ordered().withMaxDeliveryCount(1000).withLockDuration(Duration.ofSeconds(10));

  @ParameterizedTest
  @ValueSource(longs = {1, 20261115})
  void onRealTimeNothingIsOvertakenSharedOrLost(long seed) throws InterruptedException {
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(QUEUE, SETTINGS);

      var report = RandomisedRun.on(provider, QUEUE, seed).run(Duration.ofSeconds(200));

      assertClean(report);
      assertThat(provider.stats(QUEUE).depth()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {2, 424242})
  void onASettableClockNothingIsOvertakenSharedOrLost(long seed) throws InterruptedException {
    var clock = SettableClock.create();
    try (var provider = MemoryQueueProvider.create(clock)) {
      // Short leases and big steps: some leases expire while their owner is still at work.
      provider.declare(QUEUE, SETTINGS.withLockDuration(Duration.ofSeconds(1)));

      var report =
          RandomisedRun.on(provider, QUEUE, seed)
              .moving(clock, Duration.ofMillis(10))
              .run(Duration.ofSeconds(200));

      assertClean(report);
      assertThat(provider.stats(QUEUE).depth()).isZero();
    }
  }

  @Test
  void aProviderThatPutsARetryBehindItsSuccessorsIsFound() throws InterruptedException {
    try (var real = MemoryQueueProvider.create()) {
      real.declare(QUEUE, SETTINGS);
      var broken =
          new TamperedProvider(real) {
            @Override
            HeldSession held(HeldSession session) {
              return new SkippingSession(session);
            }
          };

      var report = RandomisedRun.on(broken, QUEUE, 3).ofSize(20, 1000).run(Duration.ofSeconds(3));

      assertThat(report.violations()).anyMatch(violation -> violation.startsWith("I1"));
    }
  }

  @Test
  void aProviderThatLosesMessagesIsFound() throws InterruptedException {
    try (var real = MemoryQueueProvider.create()) {
      real.declare(QUEUE, SETTINGS);
      var broken =
          new TamperedProvider(real) {
            @Override
            HeldSession held(HeldSession session) {
              return new LosingSession(session);
            }
          };

      var report = RandomisedRun.on(broken, QUEUE, 4).ofSize(20, 1000).run(Duration.ofSeconds(3));

      assertThat(report.violations()).anyMatch(violation -> violation.startsWith("I8"));
    }
  }

  private static void assertClean(RandomisedRun.Report report) {
    assertThat(report.violations()).as(report.toString()).isEmpty();
    assertThat(report.sent()).isEqualTo(20_000);
    assertThat(report.completed() + report.deadLetters()).isGreaterThanOrEqualTo(20_000);
    assertThat(report.handled()).isGreaterThan(20_500);
    assertThat(report.locksLost()).isPositive();
    assertThat(report.deadLetters()).isPositive();
    assertThat(report.concurrencyChanges()).isGreaterThan(10);
  }

  /** The planted bug: completes a message that is to be retried. */
  private static final class SkippingSession extends TamperedProvider.TamperedSession {
    SkippingSession(HeldSession real) {
      super(real);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      var first = settlements.get(0);
      return first.settlement() instanceof Settlement.Retry
          ? real.settle(List.of(new Settled(first.sequence(), Settlement.complete())))
          : real.settle(settlements);
    }
  }

  /**
   * The planted bug: confirms a dead letter without storing one, so that its session never
   * continues.
   */
  private static final class LosingSession extends TamperedProvider.TamperedSession {
    LosingSession(HeldSession real) {
      super(real);
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return settlements.get(0).settlement() instanceof Settlement.DeadLetter
          ? CompletableFuture.completedFuture(null)
          : real.settle(settlements);
    }
  }
}
