package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what the memory provider guarantees beyond the contract. */
class MemoryDetailsTest {
  private static final QueueName QUEUE = QueueName.of("q");
  private static final SessionId A = SessionId.of("a");
  private static final Owner OWNER = Owner.of("o");

  private final SettableClock clock = SettableClock.create();
  private final MemoryQueueProvider provider = MemoryQueueProvider.create(clock);

  @BeforeEach
  void declareTheQueue() {
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @Test
  void aBoundedQueueTakesNoMoreThanItsBound() throws Exception {
    var bounded = MemoryQueueProvider.createBounded(clock, 2);
    bounded.declare(QUEUE, QueueSettings.ordered());
    var first = message("a1");
    bounded.send(QUEUE, List.of(first, message("a2")));

    assertThatThrownBy(() -> bounded.send(QUEUE, List.of(message("a3"))))
        .isInstanceOf(KeeperException.Overloaded.class)
        .hasMessageContaining("bounded to 2 messages");
    assertThat(bounded.send(QUEUE, List.of(first)).getFirst())
        .isInstanceOf(SendOutcome.Duplicate.class);

    var session = take(bounded);
    settle(session, session.receive(1, Duration.ZERO).getFirst().sequence(), done());
    assertThat(bounded.send(QUEUE, List.of(message("a3"))).getFirst())
        .isInstanceOf(SendOutcome.Stored.class);
  }

  @Test
  void aBoundIsAtLeastOne() {
    assertThatThrownBy(() -> MemoryQueueProvider.createBounded(clock, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("was 0");
  }

  @Test
  void emptySessionsUseNoMemory() throws Exception {
    for (int i = 0; i < 100; i++) {
      provider.send(QUEUE, List.of(Message.of(SessionId.of("s" + i), Payload.empty())));
    }
    for (int i = 0; i < 100; i++) {
      try (var session = take(provider)) {
        settle(session, session.receive(1, Duration.ZERO).getFirst().sequence(), done());
      }
    }
    tryToTakeByName("unknown");

    assertThat(((OrderedQueue) provider.sessions(QUEUE)).entries()).isEmpty();
  }

  @Test
  void emptyingTheStateForgetsTheSession() throws Exception {
    provider.send(QUEUE, List.of(message("a1")));
    try (var session = take(provider)) {
      session.writeState(new SessionState.Write(new byte[] {1}, 0));
      settle(session, session.receive(1, Duration.ZERO).getFirst().sequence(), done());
    }
    assertThat(((OrderedQueue) provider.sessions(QUEUE)).entries()).hasSize(1);

    provider.send(QUEUE, List.of(message("a2")));
    try (var session = take(provider)) {
      session.writeState(new SessionState.Write(new byte[0], 1));
      settle(session, session.receive(1, Duration.ZERO).getFirst().sequence(), done());
    }
    assertThat(((OrderedQueue) provider.sessions(QUEUE)).entries()).isEmpty();
  }

  @Test
  void aReplayIntoAHeldSessionComesBehindWhatIsInHand() throws Exception {
    provider.send(QUEUE, List.of(message("a1"), message("a2"), message("a3")));
    var session = take(provider);
    settle(
        session,
        session.receive(1, Duration.ZERO).getFirst().sequence(),
        Settlement.deadLetter("no"));
    long second = session.receive(1, Duration.ZERO).getFirst().sequence();

    assertThat(provider.replay(QUEUE, new Selection.All())).isEqualTo(1);

    settle(session, second, done());
    assertThat(bodies(session)).containsExactly("a1", "a3");
  }

  @Test
  void aReplayIntoAHeldSessionComesFirstWhenTheHoldEnds() throws Exception {
    provider.send(QUEUE, List.of(message("a1"), message("a2"), message("a3")));
    try (var session = take(provider)) {
      settle(
          session,
          session.receive(1, Duration.ZERO).getFirst().sequence(),
          Settlement.deadLetter("no"));
      session.receive(1, Duration.ZERO);
      provider.replay(QUEUE, new Selection.All());
    }
    try (var session = take(provider)) {
      assertThat(bodies(session)).containsExactly("a1", "a2", "a3");
    }
  }

  @Test
  void closingEndsTheWaitsOfAll() throws Exception {
    var accept = waiting(() -> provider.sessions(QUEUE).acceptNext(OWNER, Duration.ofHours(1)));
    var named = waiting(() -> provider.sessions(QUEUE).accept(A, OWNER, Duration.ofHours(1)));

    provider.close();

    for (var call : List.of(accept, named)) {
      assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(KeeperException.Closed.class);
    }
    assertThatThrownBy(() -> provider.send(QUEUE, List.of(message("a1"))))
        .isInstanceOf(KeeperException.Closed.class);
  }

  @Test
  void takingASessionAwayEndsItsOwnersWait() throws Exception {
    provider.send(QUEUE, List.of(message("a1")));
    var session = take(provider);
    settle(session, session.receive(1, Duration.ZERO).getFirst().sequence(), done());
    var receive = waiting(() -> session.receive(1, Duration.ofSeconds(30)));

    provider.act(QUEUE, A, Act.RELEASE, "test");

    assertThatThrownBy(() -> receive.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(KeeperException.LockLost.class);
  }

  @Test
  void aRetryThatBecomesDueEndsItsOwnersWait() throws Exception {
    provider.send(QUEUE, List.of(message("a1")));
    var session = take(provider);
    settle(
        session,
        session.receive(1, Duration.ZERO).getFirst().sequence(),
        Settlement.retryAfter(Duration.ofSeconds(3)));
    var receive = waiting(() -> session.receive(1, Duration.ofSeconds(30)));

    clock.advance(Duration.ofSeconds(3));

    assertThat(receive.get(10, TimeUnit.SECONDS).getFirst().attempt()).isEqualTo(2);
  }

  @Test
  void aMessageIsCountedAsDeadOnceItsTimeIsOverThoughNobodyLooks() {
    provider.send(QUEUE, List.of(message("a1").withTtl(Duration.ofSeconds(1))));

    clock.advance(Duration.ofSeconds(2));

    assertThat(((OrderedQueue) provider.sessions(QUEUE)).books().shelf.size()).isEqualTo(1);
  }

  @Test
  void manyWaitersAndManySessionsComeTogether() throws Exception {
    var waiters = new ArrayList<FutureTask<AcceptResult>>();
    for (int i = 0; i < 50; i++) {
      waiters.add(waiting(() -> provider.sessions(QUEUE).acceptNext(OWNER, Duration.ofHours(1))));
    }
    for (int i = 0; i < 50; i++) {
      provider.send(QUEUE, List.of(Message.of(SessionId.of("s" + i), Payload.empty())));
    }
    for (var waiter : waiters) {
      assertThat(waiter.get(10, TimeUnit.SECONDS)).isInstanceOf(AcceptResult.Accepted.class);
    }
  }

  private void tryToTakeByName(String session) throws InterruptedException {
    assertThat(provider.sessions(QUEUE).accept(SessionId.of(session), OWNER, Duration.ZERO))
        .isEqualTo(new AcceptResult.NoSession());
  }

  private <T> FutureTask<T> waiting(Callable<T> call) {
    int before = clock.pendingTimers();
    var task = new FutureTask<>(call);
    Thread.ofVirtual().start(task);
    await().until(() -> clock.pendingTimers() > before || task.isDone());
    return task;
  }

  private static Message message(String body) {
    return Message.of(A, Payload.text(body)).withId(MessageId.of(body));
  }

  private static HeldSession take(MemoryQueueProvider from) throws InterruptedException {
    return ((AcceptResult.Accepted) from.sessions(QUEUE).acceptNext(OWNER, Duration.ZERO))
        .session();
  }

  private static Settlement done() {
    return Settlement.complete();
  }

  private static void settle(HeldSession session, long sequence, Settlement settlement) {
    session
        .settle(List.of(new HeldSession.Settled(sequence, settlement)))
        .toCompletableFuture()
        .join();
  }

  private static List<String> bodies(HeldSession session) throws InterruptedException {
    return session.receive(10, Duration.ZERO).stream().map(d -> d.payload().asText()).toList();
  }
}
