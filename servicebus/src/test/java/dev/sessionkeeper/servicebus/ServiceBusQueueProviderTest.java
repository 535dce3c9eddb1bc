package dev.sessionkeeper.servicebus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests behaviour beyond the contract that only Service Bus has. */
@Execution(ExecutionMode.SAME_THREAD)
@DisabledIfEnvironmentVariable(named = "KEEPER_IT_SERVICEBUS_CONNECTION", matches = ".+")
class ServiceBusQueueProviderTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static TestBroker broker;
  private ServiceBusQueueProvider provider;
  private QueueName queue;

  @BeforeAll
  static void startServer() {
    broker = TestBroker.start();
  }

  @AfterAll
  static void stopServer() {
    broker.close();
  }

  @BeforeEach
  void open() {
    provider = broker.provider(TimeSource.system());
    queue = QueueName.of("sb-" + UUID.randomUUID().toString().substring(0, 8));
    provider.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    provider.close();
  }

  @Test
  void settingsComeBackAsTheyWereDeclared() {
    var settings =
        QueueSettings.ordered().withMaxDeliveryCount(7).withLockDuration(Duration.ofSeconds(45));
    provider.declare(queue, settings);
    assertThat(provider.settings(queue)).contains(settings);
    assertThatThrownBy(
            () -> provider.declare(queue, settings.withLockDuration(Duration.ofMinutes(6))))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("PT5M");
  }

  @Test // S-04 across processes: another owner obeys the delay too.
  void anotherProcessKeepsToTheDelayOfARetry() throws Exception {
    send("a1");
    long started = System.nanoTime();
    try (var session = accept(provider)) {
      settle(session, Settlement.retryAfter(Duration.ofSeconds(2), "later"));
    }
    provider.close(); // Closing the provider releases its locks.
    try (var other = broker.provider(TimeSource.system())) {
      try (var session = accept(other)) {
        var again = session.receive(1, PATIENCE).getFirst();
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(Duration.ofNanos(System.nanoTime() - started))
            .isGreaterThan(Duration.ofMillis(1900));
      }
    }
  }

  @Test // A receiver whose connection broke has ended for good.
  void aBrokenConnectionIsALostLockAndTheMessageComesAgain() throws Exception {
    send("a1");
    var lost = accept(provider);
    var inHand = lost.receive(1, PATIENCE).getFirst();
    lost.renew(); // Answered after the mark that the message is open.

    broker.server().faults().dropConnections();

    await()
        .untilAsserted(
            () -> assertThatThrownBy(lost::renew).isInstanceOf(KeeperException.LockLost.class));
    assertThat(lost.settle(List.of(new Settled(inHand.sequence(), Settlement.complete()))))
        .isCompletedExceptionally();
    try (var session = accept(provider)) {
      assertThat(session.lease().epoch()).isGreaterThan(lost.lease().epoch());
      var again = session.receive(1, PATIENCE).getFirst();
      assertThat(again.payload().asText()).isEqualTo("a1");
      assertThat(again.attempt()).isEqualTo(2);
    }
  }

  @Test
  void aSessionThatWasAcceptedAndHandedOutNothingLeavesNoTrace() throws Exception {
    send("a1");
    var unused = accept(provider);

    broker.server().faults().dropConnections();

    await()
        .untilAsserted(
            () -> assertThatThrownBy(unused::renew).isInstanceOf(KeeperException.LockLost.class));
    try (var session = accept(provider)) {
      assertThat(session.lease().epoch()).isGreaterThan(unused.lease().epoch());
      assertThat(session.receive(1, PATIENCE).getFirst().attempt()).isEqualTo(1);
    }
  }

  @Test
  void whatTheBrokerSendsInOneGoIsReceivedTogether() throws Exception {
    var loose = QueueName.of(queue.value() + "-loose");
    provider.declare(loose, QueueSettings.unordered());
    for (int i = 0; i < 5; i++) {
      provider.send(loose, List.of(Message.unordered(Payload.text("m" + i))));
    }
    assertThat(provider.messages(loose).receive(10, PATIENCE)).hasSize(5);
  }

  @Test
  void aClosedSessionIsLostAtOnce() throws Exception {
    send("a1");
    var session = accept(provider);
    session.receive(1, PATIENCE);
    session.close();
    session.close();
    assertThatThrownBy(session::renew).isInstanceOf(KeeperException.LockLost.class);
    assertThatThrownBy(session::state).isInstanceOf(KeeperException.LockLost.class);
    try (var next = accept(provider)) {
      assertThat(next.receive(1, PATIENCE).getFirst().attempt()).isEqualTo(1);
    }
  }

  @Test // A replayed message has lost its place, and its dead letter says so.
  void replayedMessagesAreAppendedInTheirOldOrder() throws Exception {
    send("a1");
    send("a2");
    for (int i = 0; i < 2; i++) {
      try (var session = accept(provider)) {
        settle(session, Settlement.deadLetter("bad"));
      }
    }
    send("a3");

    assertThat(provider.replay(queue, new Selection.All())).isEqualTo(2);
    assertThat(provider.replay(queue, new Selection.All())).isZero();

    assertThat(drain()).containsExactly("a3", "a1", "a2");
  }

  @Test
  void anEmptySessionLeavesNoStateAtTheBroker() throws Exception {
    send("a1");
    try (var session = accept(provider)) {
      settle(session, Settlement.complete());
    }
    await().until(() -> broker.server().knownSessions(queue.value()) == 0);
  }

  @Test
  void aNamedSessionCanBeTakenAgainAtOnce() throws Exception {
    for (int i = 0; i < 10; i++) {
      send("a" + i);
    }
    for (int i = 0; i < 10; i++) {
      var result = provider.sessions(queue).accept(SessionId.of("a"), Owner.of("test"), PATIENCE);
      assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
      try (var session = ((AcceptResult.Accepted) result).session()) {
        settle(session, Settlement.complete());
      }
    }
  }

  private void send(String body) {
    provider.send(queue, List.of(Message.of(SessionId.of("a"), Payload.text(body))));
  }

  private HeldSession accept(ServiceBusQueueProvider by) throws InterruptedException {
    var result = by.sessions(queue).acceptNext(Owner.of("test"), PATIENCE);
    assertThat(result).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) result).session();
  }

  private static void settle(HeldSession session, Settlement settlement)
      throws InterruptedException {
    var delivery = session.receive(1, PATIENCE).getFirst();
    session
        .settle(List.of(new Settled(delivery.sequence(), settlement)))
        .toCompletableFuture()
        .join();
  }

  private List<String> drain() throws InterruptedException {
    var bodies = new ArrayList<String>();
    while (provider.sessions(queue).acceptNext(Owner.of("test"), Duration.ofSeconds(1))
        instanceof AcceptResult.Accepted accepted) {
      try (var session = accepted.session()) {
        for (var batch = session.receive(10, Duration.ofMillis(200));
            !batch.isEmpty();
            batch = session.receive(10, Duration.ofMillis(200))) {
          for (var delivery : batch) {
            bodies.add(delivery.payload().asText());
            session
                .settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
                .toCompletableFuture()
                .join();
          }
        }
      }
    }
    return bodies;
  }
}
