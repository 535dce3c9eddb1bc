package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.PoisonPolicy;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The same processor and handler on a queue without sessions. */
@Timeout(60)
class UnorderedTest {
  private static final QueueSettings SHORT_LOCK =
      QueueSettings.unordered().withLockDuration(Duration.ofSeconds(1));

  private Workbench bench = Workbench.with(QueueSettings.unordered());

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void everyMessageIsHandledOnceInASessionOfItsOwn() {
    bench.holdsUnordered(500);
    var entries = java.util.concurrent.ConcurrentHashMap.newKeySet();
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          entries.add(session.id());
          assertThat(session.epoch()).isEqualTo(1);
          assertThat(session.isLockHeld()).isTrue();
          session.releaseSession();
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(new HashSet<>(bench.handled)).hasSize(500);
    assertThat(bench.handled).hasSize(500);
    assertThat(entries).hasSize(500);
    assertThat(bench.eventsOf(ProcessorEvent.SessionOpened.class)).isEmpty();
    assertThat(bench.eventsOf(ProcessorEvent.HandlingEnded.class)).hasSize(500);
  }

  @Test
  void messagesAreHandledInParallel() throws InterruptedException {
    bench.holdsUnordered(8);
    var all = new CountDownLatch(8);
    MessageHandler handler =
        (delivery, session) -> {
          all.countDown();
          all.await();
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).maxConcurrentSessions(8).build().start()) {
      assertThat(all.await(20, TimeUnit.SECONDS)).isTrue();
      eventually().until(() -> bench.depth() == 0);
    }
  }

  @Test
  void failuresAreTriedAgainThenSetAside() {
    bench.holdsUnordered(3);
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          if (delivery.payload().asText().equals("m1")) {
            throw new IllegalStateException("poison");
          }
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).retry(RetryPolicy.forStore(3)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).hasSize(5);
    assertThat(bench.provider.stats(QUEUE).deadLetters()).isEqualTo(1);
  }

  @TestInRealTime
  void theLockIsRenewedWhileAHandlerTakesLong() {
    bench = Workbench.with(SHORT_LOCK);
    bench.holdsUnordered(1);
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          new CountDownLatch(1).await(2200, TimeUnit.MILLISECONDS);
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).hasSize(1);
  }

  @TestInRealTime
  void aLostLockInterruptsTheHandler() {
    bench = Workbench.with(SHORT_LOCK);
    bench.holdsUnordered(1);
    var interrupted = new AtomicInteger();
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          if (delivery.attempt() == 1) {
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              interrupted.incrementAndGet();
            }
          }
          return Settlement.complete();
        };
    try (var processor =
        bench.processor(handler).maxAutoRenew(Duration.ofMillis(100)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(interrupted).hasValue(1);
    assertThat(bench.handled).hasSize(2);
  }

  @Test
  void thereIsNoStateAndNoParking() {
    bench.holdsUnordered(1);
    MessageHandler handler =
        (delivery, session) -> {
          assertThatThrownBy(session::state).isInstanceOf(KeeperException.NotSupported.class);
          assertThatThrownBy(() -> session.writeState(new SessionState.Write(new byte[0], 0)))
              .isInstanceOf(KeeperException.NotSupported.class);
          bench.note(delivery);
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).hasSize(1);
    assertThatThrownBy(
            () -> bench.processor(handler).poisonPolicy(PoisonPolicy.PARK_SESSION).build())
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("no sessions to park");
  }

  @Test
  void aMessageThatAsksToBeParkedBecomesADeadLetterAtItsFirstAttempt() {
    bench.holdsUnordered(2);
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          return Settlement.park("needs a person");
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).hasSize(2);
    assertThat(bench.provider.deadLetters(QUEUE, Optional.empty(), Page.Request.first(10)).items())
        .hasSize(2)
        .allSatisfy(letter -> assertThat(letter.reason()).isEqualTo("needs a person"));
  }

  @Test
  void aDrainFinishesWhatRunsAndGivesTheRestBack() throws InterruptedException {
    bench.holdsUnordered(100);
    var running = new CountDownLatch(1);
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          bench.note(delivery);
          new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
          return Settlement.complete();
        };
    var processor = bench.processor(handler).maxConcurrentSessions(2).build().start();
    running.await();
    var report = processor.drain();

    assertThat(report.isClean()).isTrue();
    assertThat(bench.depth()).isEqualTo(100 - bench.handled.size());
    assertThat(bench.provider.stats(QUEUE).heldSessions()).isZero();
  }
}
