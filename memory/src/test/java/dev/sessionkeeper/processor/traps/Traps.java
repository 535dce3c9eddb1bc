package dev.sessionkeeper.processor.traps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.CloseReason;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionContext;
import dev.sessionkeeper.processor.SessionHooks;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;

/** The mistakes of real systems, each as a check of any processor. */
final class Traps {
  static final QueueName QUEUE = QueueName.of("traps");

  private static final QueueSettings LONG_LOCK =
      QueueSettings.ordered().withLockDuration(Duration.ofMinutes(5));

  private final Function<Trial, AutoCloseable> start;
  private final Duration patience;
  private final MemoryQueueProvider provider = MemoryQueueProvider.create();
  private final List<String> handled = new CopyOnWriteArrayList<>();

  /**
   * Creates the traps.
   *
   * @param patience how long to wait for what a processor without bugs does eventually
   */
  Traps(Function<Trial, AutoCloseable> start, Duration patience) {
    this.start = start;
    this.patience = patience;
    provider.declare(QUEUE, LONG_LOCK);
  }

  /** Runs the trap of a bug; throws an {@link AssertionError} if the processor has that bug. */
  void check(Bug bug) throws Exception {
    try {
      switch (bug) {
        case IDLE_COUNTS_HANDLER_TIME -> theIdleTimeDoesNotCountWhileAHandlerRuns();
        case ACCEPT_FAILURE_ENDS_ALL -> oneSlotsFailureDisturbsNoOther();
        case OPEN_FAILURE_IS_IGNORED -> nothingIsHandledWhenTheOpenHookFails();
        case STOP_KEEPS_LEASES -> stoppingGivesTheSessionsBack();
        case BATCH_GOES_ON_AFTER_FAILURE, RETRY_GOES_TO_THE_TAIL ->
            aFailedMessageComesAgainBeforeItsBatchMates();
        case FAILED_SESSION_IS_STILL_RENEWED -> theMatesOfAFailedMessageAreNotHeldMeanwhile();
        case RELEASED_SESSION_IS_TAKEN_AGAIN -> aReleasedSessionIsNotTakenAgainWhileOthersWait();
        case LOST_LOCK_IS_NOT_TOLD -> aLostLockEndsTheHandlerAndLeavesTheNewOwnerAlone();
        case SPINS_WHEN_NOTHING_IS_THERE -> aProviderThatDoesNotWaitIsNotAskedInALoop();
        case DEAD_LETTER_DELETES -> aPoisonMessageIsKept();
        case ALL_WAIT_THE_SAME_TIME -> waitersDoNotWakeTogether();
        case STOP_WAITS_FOR_EVER -> stoppingEndsEvenIfAHandlerDoesNot();
      }
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(e);
    } finally {
      provider.close();
    }
  }

  private void theIdleTimeDoesNotCountWhileAHandlerRuns() throws Exception {
    var epochs = new CopyOnWriteArrayList<Long>();
    send("a1");
    MessageHandler handler =
        (delivery, session) -> {
          epochs.add(session.epoch());
          if (epochs.size() == 1) {
            send("a2");
            TimeUnit.MILLISECONDS.sleep(300);
          }
          return Settlement.complete();
        };
    try (var processor = start.apply(Trial.of(provider, handler))) {
      eventually().until(() -> epochs.size() == 2);
    }
    assertThat(epochs.get(1)).as("the hold of the second message").isEqualTo(epochs.get(0));
  }

  private void oneSlotsFailureDisturbsNoOther() throws Exception {
    var accepts = new AtomicInteger();
    var interrupted = new AtomicInteger();
    QueueProvider failing =
        new FailingAccepts(provider) {
          @Override
          AcceptResult accept(Owner owner, Duration wait) throws InterruptedException {
            if (accepts.incrementAndGet() % 3 == 2) {
              throw new KeeperException.Unavailable("the test");
            }
            return super.accept(owner, wait);
          }
        };
    send("a1", "b1", "c1", "d1", "e1", "f1");
    MessageHandler handler =
        (delivery, session) -> {
          try {
            TimeUnit.MILLISECONDS.sleep(30);
          } catch (InterruptedException e) {
            interrupted.incrementAndGet();
          }
          return note(delivery.payload().asText());
        };
    try (var processor =
        start.apply(Trial.of(failing, handler).withSlots(3).withIdle(Duration.ofMillis(1)))) {
      eventually().until(() -> handled.size() == 6);
    }
    assertThat(interrupted).hasValue(0);
  }

  private void nothingIsHandledWhenTheOpenHookFails() throws Exception {
    var opened = new AtomicInteger();
    var hooks =
        new SessionHooks() {
          @Override
          public void onSessionOpened(SessionContext session) {
            if (session.id().value().equals("bad")) {
              opened.incrementAndGet();
              throw new IllegalStateException("cannot open");
            }
          }
        };
    send("bad1", "good1", "bad2");
    try (var processor =
        start.apply(
            Trial.of(provider, (delivery, session) -> note(delivery.payload().asText()))
                .withHooks(hooks))) {
      eventually().until(() -> handled.contains("good1") && opened.get() >= 2);
      TimeUnit.MILLISECONDS.sleep(200);
    }
    assertThat(handled).containsExactly("good1");
    assertThat(opened.get()).as("opened in a hot loop").isLessThan(50);
  }

  private void stoppingGivesTheSessionsBack() throws Exception {
    send("a1");
    var processor =
        start.apply(
            Trial.of(provider, (delivery, session) -> note(delivery.payload().asText()))
                .withIdle(Duration.ofMinutes(1)));
    eventually().until(() -> handled.size() == 1);
    processor.close();
    send("a2");
    assertThat(provider.sessions(QUEUE).accept(SessionId.of("a"), Owner.of("x"), Duration.ZERO))
        .isInstanceOf(AcceptResult.Accepted.class);
  }

  private void aFailedMessageComesAgainBeforeItsBatchMates() throws Exception {
    send("a1", "a2", "a3", "a4");
    MessageHandler handler =
        (delivery, session) -> {
          var text = delivery.payload().asText();
          if (text.equals("a2") && !handled.contains("a2")) {
            note(text);
            throw new IllegalStateException("once");
          }
          return note(text);
        };
    try (var processor = start.apply(Trial.of(provider, handler))) {
      eventually().until(() -> provider.stats(QUEUE).depth() == 0);
    }
    assertThat(handled).containsExactly("a1", "a2", "a2", "a3", "a4");
  }

  private void aReleasedSessionIsNotTakenAgainWhileOthersWait() throws Exception {
    send("a1", "a2", "a3", "b1", "b2", "c1");
    MessageHandler handler =
        (delivery, session) -> {
          session.releaseSession();
          return note(delivery.payload().asText());
        };
    try (var processor = start.apply(Trial.of(provider, handler))) {
      eventually().until(() -> handled.size() == 6);
    }
    assertThat(handled).containsExactly("a1", "b1", "c1", "a2", "b2", "a3");
  }

  private void aLostLockEndsTheHandlerAndLeavesTheNewOwnerAlone() throws Exception {
    var interrupted = new CountDownLatch(1);
    var closed = new CountDownLatch(1);
    var taken = new CompletableFuture<AcceptResult>();
    var hooks =
        new SessionHooks() {
          @Override
          public void onSessionClosed(SessionContext session, CloseReason reason) {
            closed.countDown();
          }
        };
    MessageHandler handler =
        (delivery, session) -> {
          provider.act(QUEUE, session.id(), Act.RELEASE, "test");
          // Our processor renews often, so it notices soon; the new owner keeps its lease.
          provider.declare(QUEUE, LONG_LOCK);
          taken.complete(
              provider.sessions(QUEUE).accept(session.id(), Owner.of("new"), Duration.ZERO));
          try {
            TimeUnit.NANOSECONDS.sleep(patience.toNanos());
          } catch (InterruptedException e) {
            interrupted.countDown();
          }
          return Settlement.complete();
        };
    provider.declare(QUEUE, LONG_LOCK.withLockDuration(Duration.ofSeconds(1)));
    send("a1");
    try (var processor = start.apply(Trial.of(provider, handler).withHooks(hooks))) {
      var result = (AcceptResult.Accepted) taken.get(20, TimeUnit.SECONDS);
      try (var newOwner = result.session()) {
        closed.await(30, TimeUnit.SECONDS);
        assertThat(interrupted.getCount()).as("handlers not told").isZero();
        newOwner.renew();
        assertThat(newOwner.receive(1, Duration.ZERO)).hasSize(1);
      }
    }
  }

  private void theMatesOfAFailedMessageAreNotHeldMeanwhile() throws Exception {
    var failures = new AtomicInteger();
    MessageHandler handler =
        (delivery, session) -> {
          failures.incrementAndGet();
          throw new IllegalStateException("not now");
        };
    send("a1", "a2");
    try (var processor =
        start.apply(Trial.of(provider, handler).withRetry(Duration.ofMinutes(1)))) {
      eventually().until(() -> failures.get() == 1);
      eventually().until(() -> !isLocked(SessionId.of("a")));
    }
    assertThat(failures).hasValue(1);
  }

  private boolean isLocked(SessionId session) throws InterruptedException {
    return provider.sessions(QUEUE).accept(session, Owner.of("other"), Duration.ZERO)
        instanceof AcceptResult.Locked;
  }

  private void aProviderThatDoesNotWaitIsNotAskedInALoop() throws Exception {
    var accepts = new AtomicInteger();
    QueueProvider hasty =
        new FailingAccepts(provider) {
          @Override
          AcceptResult accept(Owner owner, Duration wait) {
            accepts.incrementAndGet();
            return new AcceptResult.NoSession();
          }
        };
    try (var processor =
        start.apply(Trial.of(hasty, (delivery, session) -> Settlement.complete()).withSlots(2))) {
      eventually().until(() -> accepts.get() >= 2);
      TimeUnit.MILLISECONDS.sleep(300);
    }
    assertThat(accepts.get()).isLessThan(400);
  }

  private void aPoisonMessageIsKept() throws Exception {
    send("a1", "a2");
    MessageHandler handler =
        (delivery, session) -> {
          if (delivery.payload().asText().equals("a1")) {
            throw new IllegalStateException("poison");
          }
          return note(delivery.payload().asText());
        };
    try (var processor = start.apply(Trial.of(provider, handler))) {
      eventually().until(() -> handled.contains("a2"));
    }
    assertThat(provider.stats(QUEUE).deadLetters()).isEqualTo(1);
  }

  private void waitersDoNotWakeTogether() throws Exception {
    var waits = new CopyOnWriteArrayList<Duration>();
    QueueProvider listening =
        new FailingAccepts(provider) {
          @Override
          AcceptResult accept(Owner owner, Duration wait) throws InterruptedException {
            waits.add(wait);
            return super.accept(owner, wait);
          }
        };
    try (var processor =
        start.apply(
            Trial.of(listening, (delivery, session) -> Settlement.complete()).withSlots(8))) {
      eventually().until(() -> waits.size() >= 8);
    }
    assertThat(waits.subList(0, 8).stream().distinct().count()).isGreaterThan(4);
  }

  private void stoppingEndsEvenIfAHandlerDoesNot() throws Exception {
    var running = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    send("a1");
    MessageHandler handler =
        (delivery, session) -> {
          running.countDown();
          while (goOn.getCount() > 0) {
            try {
              goOn.await();
            } catch (InterruptedException e) {
              // The handler ignores the interrupt.
            }
          }
          return Settlement.complete();
        };
    var processor = start.apply(Trial.of(provider, handler));
    running.await();
    var stopped = new CountDownLatch(1);
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                processor.close();
                stopped.countDown();
              } catch (Exception e) {
                // The processor has not stopped, so there is nothing to check.
              }
            });
    boolean ended = stopped.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    goOn.countDown();
    assertThat(ended).isTrue();
  }

  private void send(String... texts) {
    for (var text : texts) {
      provider.send(
          QUEUE, List.of(Message.of(SessionId.of(text.replaceAll("\\d", "")), Payload.text(text))));
    }
  }

  private Settlement note(String text) {
    handled.add(text);
    return Settlement.complete();
  }

  private ConditionFactory eventually() {
    return Awaitility.await().atMost(patience).pollInterval(Duration.ofMillis(5));
  }
}
