package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Lease;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how long a session is held, and how a hold ends. */
@Tag("slow")
@Timeout(60)
class HoldTest {
  private Workbench bench = Workbench.ordered();

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void anIdleSessionMakesPlaceWhenOthersWaitAndAllSlotsAreTaken() {
    bench.holds("a1");
    var processor =
        bench
            .processor((delivery, session) -> done(bench.note(delivery)))
            .maxConcurrentSessions(1)
            .sessionIdleTimeout(Duration.ofMinutes(2))
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.handled.contains("a1"));
      bench.holds("b1");
      eventually().until(() -> bench.handled.contains("b1"));
      assertThat(bench.closeReasons()).containsExactly(CloseReason.DRAINED);
    }
  }

  @Test
  void anIdleSessionIsKeptWhileASlotIsFree() {
    bench.holds("a1");
    var processor =
        bench
            .processor((delivery, session) -> done(bench.note(delivery)))
            .maxConcurrentSessions(3)
            .sessionIdleTimeout(Duration.ofMinutes(2))
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.handled.contains("a1"));
      bench.holds("b1");
      eventually().until(() -> bench.handled.contains("b1"));
      assertThat(bench.closeReasons()).isEmpty();
      assertThat(processor.activeSessions()).isEqualTo(2);
    }
    assertThat(bench.closeReasons()).containsExactly(CloseReason.SHUTDOWN, CloseReason.SHUTDOWN);
  }

  @Test
  void aSessionHasItsShareOfMessagesThenOthersCome() {
    bench.holds("a1", "a2", "a3", "a4", "a5", "b1", "b2");
    var processor =
        bench
            .processor((delivery, session) -> done(bench.note(delivery)))
            .maxConcurrentSessions(1)
            .maxMessagesPerHold(2)
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a2", "b1", "b2", "a3", "a4", "a5");
    assertThat(bench.closeReasons()).startsWith(CloseReason.QUANTUM, CloseReason.QUANTUM);
  }

  @Test
  void afterItsLongestTimeASessionFinishesTheMessageInHandAndIsGivenBack() {
    var clock = SettableClock.create();
    bench = Workbench.with(QueueSettings.ordered(), clock);
    bench.holds("a1", "a2");
    MessageHandler handler =
        (delivery, session) -> {
          // Less than the lease, so that only the maximum duration of the hold is over.
          if (bench.note(delivery).equals("a1")) {
            clock.advance(Duration.ofSeconds(11));
          }
          return Settlement.complete();
        };
    var processor =
        bench
            .processor(handler)
            .time(clock)
            .sessionIdleTimeout(Duration.ofSeconds(10))
            .sessionMaxDuration(Duration.ofSeconds(10))
            .build()
            .start();
    try (processor) {
      eventually().until(() -> bench.handled.contains("a2"));
    }
    assertThat(bench.closeReasons()).startsWith(CloseReason.MAX_DURATION);
    assertThat(bench.handled).containsExactly("a1", "a2");
  }

  @TestInRealTime
  void theLeaseIsRenewedWhileAHandlerTakesLongerThanIt() {
    bench = Workbench.with(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(1)));
    bench.holds("a1");
    var held = new CopyOnWriteArrayList<Boolean>();
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          new CountDownLatch(1).await(2500, TimeUnit.MILLISECONDS);
          held.add(session.isLockHeld());
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(held).containsExactly(true);
    assertThat(bench.handled).containsExactly("a1");
    assertThat(bench.eventsOf(ProcessorEvent.LeaseRenewed.class)).hasSizeGreaterThanOrEqualTo(5);
    assertThat(bench.eventsOf(ProcessorEvent.LeaseLost.class)).isEmpty();
  }

  @TestInRealTime
  void aSlowRenewalOfOneSessionDelaysNoOther() throws InterruptedException {
    bench = Workbench.with(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(1)));
    bench.holds("slow1", "quick1");
    var stuck = new CountDownLatch(1);
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          HeldSession held(HeldSession session) {
            return new TamperedSession(session) {
              @Override
              public Lease renew() {
                if (real.id().value().equals("slow")) {
                  awaitQuietly(stuck);
                }
                return real.renew();
              }
            };
          }
        };
    var lost = new CopyOnWriteArrayList<SessionId>();
    var ended = new CountDownLatch(2);
    MessageHandler handler =
        (delivery, session) -> {
          try {
            new CountDownLatch(1).await(2, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            lost.add(session.id());
          } finally {
            ended.countDown();
          }
          return Settlement.complete();
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, handler).listener(bench.events::add).build()) {
      processor.start();
      ended.await();
      stuck.countDown();
    }
    assertThat(lost).first().isEqualTo(SessionId.of("slow"));
    assertThat(lost).doesNotContain(SessionId.of("quick"));
  }

  @TestInRealTime
  void aLostLeaseInterruptsTheHandlerAndItsSettlementIsNotSent() {
    bench = Workbench.with(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(1)));
    bench.holds("a1", "a2");
    var interrupted = new AtomicInteger();
    var closed = new AtomicInteger();
    var hooks =
        new SessionHooks() {
          @Override
          public void onSessionClosed(SessionContext session, CloseReason reason) {
            if (reason == CloseReason.LOCK_LOST && !session.isLockHeld()) {
              closed.incrementAndGet();
            }
          }
        };
    MessageHandler handler =
        (delivery, session) -> {
          if (bench.handled.isEmpty()) {
            bench.note(delivery);
            bench.provider.act(QUEUE, session.id(), Act.RELEASE, "test");
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              assertThat(session.isLockHeld()).isFalse();
              interrupted.incrementAndGet();
            }
            return Settlement.deadLetter("must not be applied");
          }
          bench.note(delivery);
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).hooks(hooks).build().start()) {
      eventually().until(() -> bench.depth() == 0);
      eventually().until(() -> closed.get() == 1);
    }
    assertThat(interrupted).hasValue(1);
    assertThat(bench.handled).containsExactly("a1", "a1", "a2");
    assertThat(bench.provider.stats(QUEUE).deadLetters()).isZero();
    assertThat(bench.eventsOf(ProcessorEvent.LeaseLost.class)).hasSize(1);
  }

  @TestInRealTime
  void aHandlerThatTakesLongerThanRenewalIsAllowedLosesItsLease() {
    bench = Workbench.with(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(1)));
    bench.holds("a1");
    var interruptedAfter = new CopyOnWriteArrayList<Duration>();
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          if (delivery.attempt() == 1) {
            long started = System.nanoTime();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              interruptedAfter.add(Duration.ofNanos(System.nanoTime() - started));
            }
          }
          return Settlement.complete();
        };
    try (var processor =
        bench.processor(handler).maxAutoRenew(Duration.ofMillis(1500)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(interruptedAfter).singleElement();
    assertThat(interruptedAfter.get(0)).isGreaterThan(Duration.ofMillis(1500));
    assertThat(bench.handled).containsExactly("a1", "a1");
    assertThat(bench.closeReasons()).contains(CloseReason.LOCK_LOST);
  }

  @TestInRealTime
  void aHandlerThatEndsBetweenTheLimitOfRenewalAndTheEndOfItsLeaseIsSettled() {
    bench = Workbench.with(QueueSettings.ordered().withLockDuration(Duration.ofSeconds(3)));
    bench.holds("a1", "a2");
    MessageHandler handler =
        (delivery, session) -> {
          if (bench.note(delivery).equals("a1")) {
            new CountDownLatch(1).await(700, TimeUnit.MILLISECONDS);
          }
          return Settlement.complete();
        };
    try (var processor =
        bench.processor(handler).maxAutoRenew(Duration.ofMillis(300)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a2");
    assertThat(bench.closeReasons()).startsWith(CloseReason.MAX_DURATION);
  }

  @Test
  void aReceiveThatFailsEndsTheHoldAndTheMessageComesAgain() {
    bench.holds("a1");
    var failures = new AtomicInteger(2);
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          HeldSession held(HeldSession session) {
            return new TamperedSession(session) {
              @Override
              public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
                if (failures.getAndDecrement() > 0) {
                  throw new KeeperException.Unavailable("the test");
                }
                return real.receive(max, wait);
              }
            };
          }
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, (delivery, session) -> done(bench.note(delivery)))
            .listener(bench.events::add)
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.closeReasons()).startsWith(CloseReason.ERROR, CloseReason.ERROR);
    assertThat(bench.handled).containsExactly("a1");
  }

  @Test
  void aProviderThatHandsOutMessagesInTheWrongOrderIsFoundOut() {
    bench.holds("a1", "a2");
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          HeldSession held(HeldSession session) {
            return new ReversingSession(session);
          }
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, (delivery, session) -> done(bench.note(delivery)))
            .listener(bench.events::add)
            .build()
            .start()) {
      eventually().until(() -> bench.handled.size() == 2);
    }
    assertThat(bench.eventsOf(ProcessorEvent.OrderViolated.class))
        .singleElement()
        .satisfies(
            violated -> {
              assertThat(violated.previous()).isEqualTo(2);
              assertThat(violated.sequence()).isEqualTo(1);
            });
  }

  @Test
  void aProviderThatRefusesASettlementEndsTheHold() {
    bench.holds("a1", "a2", "a3");
    var refusals = new AtomicInteger(1);
    var provider =
        new TamperedProvider(bench.provider) {
          @Override
          HeldSession held(HeldSession session) {
            return new TamperedSession(session) {
              @Override
              public CompletionStage<Void> settle(List<Settled> settlements) {
                return refusals.getAndDecrement() > 0
                    ? CompletableFuture.failedFuture(new KeeperException.Unavailable("the test"))
                    : real.settle(settlements);
              }
            };
          }
        };
    try (var processor =
        SessionProcessor.builder(provider, QUEUE, (delivery, session) -> done(bench.note(delivery)))
            .listener(bench.events::add)
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1", "a2", "a3");
    assertThat(bench.closeReasons()).startsWith(CloseReason.ERROR);
  }

  /** Delivers received messages in reverse order, and accepts every settlement. */
  private static final class ReversingSession extends TamperedProvider.TamperedSession {
    ReversingSession(HeldSession real) {
      super(real);
    }

    @Override
    public List<Delivery> receive(int max, Duration wait) throws InterruptedException {
      var batch = new ArrayList<>(real.receive(max, wait));
      Collections.reverse(batch);
      return batch;
    }

    @Override
    public CompletionStage<Void> settle(List<Settled> settlements) {
      return CompletableFuture.completedFuture(null);
    }
  }

  private static Settlement done(String unused) {
    return Settlement.complete();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
