package dev.sessionkeeper.processor;

import static dev.sessionkeeper.processor.Workbench.QUEUE;
import static dev.sessionkeeper.processor.Workbench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.RetryPolicy;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionHooks.Phase;
import dev.sessionkeeper.spi.AcceptResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessorTest {
  private final Workbench bench = Workbench.ordered();

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void messagesOfASessionAreHandledInOrderAndSettled() {
    bench.holds("a1", "b1", "a2", "b2", "a3");
    try (var processor = bench.processor(this::complete).build().start()) {
      eventually().until(() -> bench.depth() == 0);
      assertThat(processor.state()).isEqualTo(SessionProcessor.State.RUNNING);
    }
    assertThat(bench.handled).containsExactlyInAnyOrder("a1", "b1", "a2", "b2", "a3");
    assertThat(bench.handled).containsSubsequence("a1", "a2", "a3");
    assertThat(bench.handled).containsSubsequence("b1", "b2");
  }

  @Test
  void sessionsAreHandledInParallelAndASessionIsNot() throws InterruptedException {
    var both = new CountDownLatch(2);
    var inside = new ConcurrentHashMap<SessionId, AtomicInteger>();
    bench.holds("a1", "a2", "b1", "b2");
    MessageHandler handler =
        (delivery, session) -> {
          var busy = inside.computeIfAbsent(session.id(), id -> new AtomicInteger());
          assertThat(busy.incrementAndGet()).isEqualTo(1);
          both.countDown();
          both.await();
          bench.note(delivery);
          busy.decrementAndGet();
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
      assertThat(processor.options().maxConcurrentSessions()).isEqualTo(8);
    }
    assertThat(bench.handled).hasSize(4);
  }

  @Test
  void aFailedMessageIsTriedAgainBeforeItsSuccessors() {
    bench.holds("a1", "a2", "a3");
    MessageHandler handler =
        (delivery, session) -> {
          var text = bench.note(delivery);
          if (text.equals("a2") && delivery.attempt() < 3) {
            throw new IllegalStateException("not yet");
          }
          return Settlement.complete();
        };
    try (var processor =
        bench
            .processor(handler)
            .retry(new RetryPolicy(5, Duration.ofMillis(1), 60, Duration.ofMillis(60), 0))
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a2", "a2", "a2", "a3");
  }

  @Test
  void aHandlerMaySettleAsItLikes() {
    bench.holds("a1", "a2", "a3");
    MessageHandler handler =
        (delivery, session) ->
            switch (bench.note(delivery)) {
              case "a1" ->
                  delivery.attempt() == 1
                      ? Settlement.retryAfter(Duration.ofMillis(30), "busy")
                      : Settlement.complete();
              case "a2" -> Settlement.deadLetter("unwanted");
              default -> Settlement.complete();
            };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1", "a2", "a3");
    var dead = bench.provider.deadLetters(QUEUE, Optional.empty(), Page.Request.first(10)).items();
    assertThat(dead).singleElement().extracting(d -> d.reason()).isEqualTo("unwanted");
  }

  @Test
  void aHandlerThatReturnsNothingHasFailed() {
    bench.holds("a1");
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          return delivery.attempt() == 1 ? nothing() : Settlement.complete();
        };
    try (var processor = bench.processor(handler).retry(RetryPolicy.forStore(5)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1");
  }

  @Test
  void anErrorOfAHandlerIsAFailureToo() {
    bench.holds("a1");
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          if (delivery.attempt() == 1) {
            throw new AssertionError("a bug in the handler");
          }
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).retry(RetryPolicy.forStore(5)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1");
  }

  @Test
  void aFailurePolicyDecidesInsteadAndIsReplacedWhenItFails() {
    bench.holds("a1", "b1");
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          throw new IllegalArgumentException("never");
        };
    FailurePolicy policy =
        (delivery, failure) -> {
          if (delivery.payload().asText().equals("b1")) {
            throw new IllegalStateException("the policy fails");
          }
          return Settlement.deadLetter("policy", failure.toString());
        };
    try (var processor =
        bench.processor(handler).onFailure(policy).retry(RetryPolicy.forStore(1)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.provider.stats(QUEUE).deadLetters()).isEqualTo(2);
    assertThat(bench.handled).hasSize(2);
  }

  @Test
  void hooksComeBeforeTheFirstAndAfterTheLastMessageOfAHold() {
    var told = new CopyOnWriteArrayList<String>();
    bench.holds("a1", "a2");
    var hooks =
        new SessionHooks() {
          @Override
          public void onSessionOpened(SessionContext session) {
            told.add("open " + session.id() + " " + session.isLockHeld());
          }

          @Override
          public void onSessionClosed(SessionContext session, CloseReason reason) {
            told.add("close " + session.id() + " " + reason + " " + session.isLockHeld());
          }
        };
    MessageHandler handler =
        (delivery, session) -> {
          told.add(delivery.payload().asText());
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).hooks(hooks).build().start()) {
      eventually().until(() -> told.size() == 4);
    }
    assertThat(told).containsExactly("open a true", "a1", "a2", "close a IDLE true");
  }

  @Test
  void aCloseHookThatThrowsIsReportedAndTheSessionIsGivenBack() {
    var errors = new CopyOnWriteArrayList<SessionHooks.ErrorContext>();
    bench.holds("a1");
    var hooks =
        new SessionHooks() {
          @Override
          public void onSessionClosed(SessionContext session, CloseReason reason) {
            throw new IllegalStateException("close fails");
          }

          @Override
          public void onError(Throwable error, ErrorContext context) {
            errors.add(context);
            throw new IllegalStateException("the error hook fails, too");
          }
        };
    try (var processor = bench.processor(this::complete).hooks(hooks).build().start()) {
      eventually().until(() -> !errors.isEmpty());
      bench.holds("a2");
      eventually().until(() -> bench.handled.size() == 2);
    }
    assertThat(errors)
        .anySatisfy(
            context -> {
              assertThat(context.phase()).isEqualTo(Phase.CLOSE);
              assertThat(context.queue()).isEqualTo(Workbench.QUEUE);
              assertThat(context.session()).contains(SessionId.of("a"));
            });
  }

  @Test
  void theHandlerReadsAndWritesTheStateOfItsSession() {
    bench.holds("a1", "a2", "a3");
    MessageHandler handler =
        (delivery, session) -> {
          var text = bench.note(delivery);
          var state = session.state();
          var sum = new String(state.bytes(), StandardCharsets.UTF_8) + text;
          var write = new SessionState.Write(sum.getBytes(StandardCharsets.UTF_8), state.version());
          if (text.equals("a2")) {
            session.writeState(write);
          } else {
            session.writeStateOnSettle(write);
          }
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
      processor.drain();
    }
    assertThat(stateOf("a")).isEqualTo("a1a2a3");
  }

  @Test
  void aStaleStateMakesTheMessageFailAndBeTriedAgain() {
    bench.holds("a1");
    MessageHandler handler =
        (delivery, session) -> {
          bench.note(delivery);
          long version = delivery.attempt() == 1 ? 99 : session.state().version();
          session.writeStateOnSettle(new SessionState.Write(new byte[] {1}, version));
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).retry(RetryPolicy.forStore(5)).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1", "a1");
    assertThat(bench.eventsOf(ProcessorEvent.Failed.class))
        .anyMatch(failed -> failed.error() instanceof KeeperException.StaleState);
  }

  @Test
  void epochsGrowWithEveryHold() {
    var epochs = new CopyOnWriteArrayList<Long>();
    bench.holds("a1", "a2", "a3");
    MessageHandler handler =
        (delivery, session) -> {
          epochs.add(session.epoch());
          session.releaseSession();
          return Settlement.complete();
        };
    try (var processor = bench.processor(handler).build().start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(epochs).hasSize(3).isSorted().doesNotHaveDuplicates();
    assertThat(bench.closeReasons()).containsOnly(CloseReason.RELEASED);
  }

  @Test
  void eventsTellTheLifeOfASession() {
    bench.holds("a1");
    try (var processor = bench.processor(this::complete).build().start()) {
      eventually().until(() -> bench.closeReasons().equals(List.of(CloseReason.IDLE)));
    }
    assertThat(bench.events)
        .extracting(event -> event.getClass().getSimpleName())
        .containsExactly("SessionOpened", "HandlingStarted", "HandlingEnded", "SessionClosed");
    assertThat(bench.eventsOf(ProcessorEvent.SessionClosed.class))
        .singleElement()
        .satisfies(
            closed -> {
              assertThat(closed.messages()).isEqualTo(1);
              assertThat(closed.held()).isGreaterThan(Duration.ofMillis(150));
            });
  }

  @Test
  void aListenerThatThrowsStopsNothing() {
    bench.holds("a1");
    try (var processor =
        bench
            .processor(this::complete)
            .listener(
                event -> {
                  throw new IllegalStateException("a listener fails");
                })
            .build()
            .start()) {
      eventually().until(() -> bench.depth() == 0);
    }
    assertThat(bench.handled).containsExactly("a1");
  }

  @Test
  void whatCannotWorkIsRefusedWhenItIsBuilt() {
    assertThatThrownBy(
            () ->
                SessionProcessor.builder(bench.provider, QueueName.of("nowhere"), this::complete)
                    .build())
        .isInstanceOf(KeeperException.UnknownQueue.class);
    assertThatThrownBy(() -> bench.processor(this::complete).maxConcurrentSessions(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aProcessorStartsOnce() {
    var processor = bench.processor(this::complete).build();
    assertThat(processor.state()).isEqualTo(SessionProcessor.State.NEW);
    processor.start();
    assertThatThrownBy(processor::start).isInstanceOf(IllegalStateException.class);
    processor.close();
    assertThat(processor.state()).isEqualTo(SessionProcessor.State.CLOSED);
    assertThatThrownBy(processor::start).isInstanceOf(KeeperException.Closed.class);
    assertThat(processor.drain().isClean()).isTrue();
  }

  @Test
  void aProcessorThatNeverStartedCloses() {
    var processor = bench.processor(this::complete).build();
    processor.close();
    assertThat(processor.state()).isEqualTo(SessionProcessor.State.CLOSED);
  }

  private Settlement complete(Delivery delivery, SessionContext session) {
    bench.note(delivery);
    return Settlement.complete();
  }

  @SuppressWarnings("NullAway") // Careless application code returns null.
  private static Settlement nothing() {
    return null;
  }

  private String stateOf(String session) {
    bench.holds(session + "9");
    try {
      if (bench.acceptElsewhere(session) instanceof AcceptResult.Accepted accepted) {
        try (var held = accepted.session()) {
          return new String(held.state().bytes(), StandardCharsets.UTF_8);
        }
      }
      return "not free";
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
