package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.SessionSource;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of held sessions while the concurrency changes. */
@Timeout(60)
class SlotsTest {
  private final Workbench bench = Workbench.ordered();
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final Semaphore mayEnd = new Semaphore(0, true);

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void concurrencyGrowsAndShrinksWhileRunning() {
    for (char session = 'a'; session <= 'z'; session++) {
      bench.holds(session + "1", session + "2");
    }
    var processor = bench.processor(this::holdOn).maxConcurrentSessions(2).build().start();
    try (processor) {
      eventually().until(() -> inside.get() == 2);
      processor.changeConcurrency(5);
      eventually().until(() -> inside.get() == 5);
      assertThat(processor.options().maxConcurrentSessions()).isEqualTo(5);

      processor.changeConcurrency(1);
      // All five wait in order, so the slot that stays cannot take the permit of one that ends.
      eventually().until(() -> mayEnd.getQueueLength() == 5);
      mayEnd.release(5);
      eventually().until(() -> processor.activeSessions() == 1 && inside.get() == 1);
      assertThat(bench.closeReasons()).containsOnly(CloseReason.RELEASED).hasSize(4);

      most.set(0);
      mayEnd.release(1000);
      eventually().until(() -> bench.depth() == 0);
      assertThat(most.get()).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void shrinkingAndGrowingAtOnceNeverHoldsMoreThanWished() {
    for (char session = 'a'; session <= 'z'; session++) {
      bench.holds(session + "1");
    }
    var processor = bench.processor(this::holdOn).maxConcurrentSessions(4).build().start();
    try (processor) {
      eventually().until(() -> inside.get() == 4);
      processor.changeConcurrency(1);
      processor.changeConcurrency(4);
      mayEnd.release(1000);
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(most.get()).isEqualTo(4);
  }

  @Test
  void beforeTheStartItIsOnlyRemembered() {
    bench.holds("a1", "b1", "c1");
    var processor = bench.processor(this::holdOn).maxConcurrentSessions(8).build();
    processor.changeConcurrency(2);
    try (processor) {
      processor.start();
      eventually().until(() -> inside.get() == 2);
      mayEnd.release(100);
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(most.get()).isEqualTo(2);
  }

  @Test
  void slotsRunOnThreadsOfTheUsersChoice() {
    bench.holds("a1");
    var processor =
        bench
            .processor(
                (delivery, session) -> {
                  bench.note(delivery);
                  bench.handled.add(Thread.currentThread().getName());
                  return Settlement.complete();
                })
            .threads(Thread.ofPlatform().name("mine").factory())
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "mine");
  }

  @Test
  void aThousandSlotsShareTheWork() {
    for (int i = 0; i < 200; i++) {
      bench.holds("s" + i + "x1", "s" + i + "x2");
    }
    var processor =
        bench
            .processor(
                (delivery, session) -> {
                  bench.note(delivery);
                  return Settlement.complete();
                })
            .maxConcurrentSessions(1000)
            .sessionIdleTimeout(Duration.ofMinutes(1))
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.depth() == 0);
      assertThat(processor.activeSessions()).isEqualTo(200);
    }
    assertThat(bench.handled).hasSize(400);
  }

  @Test
  void aSlotThatIsAboutToStartIsFree() {
    bench.holds("a1", "b1", "c1");
    var asked = new AtomicInteger();
    var others = new CountDownLatch(3);
    var cameSooner = new AtomicBoolean();
    ThreadFactory lateForTheLast =
        task -> {
          if (asked.incrementAndGet() == 3) {
            cameSooner.set(cameWithin300Millis(others));
          }
          return Thread.ofVirtual().unstarted(task);
        };
    var processor =
        bench
            .processor(
                (delivery, session) -> {
                  bench.note(delivery);
                  others.countDown();
                  return Settlement.complete();
                })
            .maxConcurrentSessions(3)
            .sessionIdleTimeout(Duration.ofMinutes(1))
            .threads(lateForTheLast)
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.depth() == 0);
      assertThat(cameSooner).as("the third session was taken in place of another").isFalse();
      assertThat(processor.activeSessions()).isEqualTo(3);
    }
  }

  @Test
  void aSlotOnItsWayToTheNextSessionIsNotFree() {
    var clock = SettableClock.create();
    var accepts = new AtomicInteger();
    var bothInHand = new CountDownLatch(2);
    var mayGoOn = new CountDownLatch(1);
    try (var still = Workbench.with(QueueSettings.ordered(), clock)) {
      still.holds("a1", "b1", "c1");
      var slow =
          new TamperedProvider(still.provider) {
            @Override
            protected AcceptResult acceptNext(SessionSource source, Owner owner, Duration wait)
                throws InterruptedException {
              if (accepts.incrementAndGet() == 3) {
                mayGoOn.await();
              }
              return super.acceptNext(source, owner, wait);
            }
          };
      var processor =
          SessionProcessor.builder(
                  slow,
                  Workbench.QUEUE,
                  (delivery, session) -> {
                    bothInHand.countDown();
                    bothInHand.await();
                    still.note(delivery);
                    return Settlement.complete();
                  })
              .maxConcurrentSessions(2)
              .time(clock)
              .build()
              .start();
      try (processor) {
        // The clock stands still, so a slot that first waits for a second would wait for ever.
        eventually().until(() -> still.handled.contains("c1"));
        mayGoOn.countDown();
      }
    }
  }

  private static boolean cameWithin300Millis(CountDownLatch latch) {
    try {
      return latch.await(300, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Settlement holdOn(Delivery delivery, SessionContext session) throws InterruptedException {
    int now = inside.incrementAndGet();
    most.accumulateAndGet(now, Math::max);
    try {
      mayEnd.acquire();
      bench.note(delivery);
      return Settlement.complete();
    } finally {
      inside.decrementAndGet();
    }
  }
}
