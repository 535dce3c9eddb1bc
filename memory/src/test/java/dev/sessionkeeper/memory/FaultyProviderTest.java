package dev.sessionkeeper.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.ResumableSessions;
import dev.sessionkeeper.testkit.Faults;
import dev.sessionkeeper.testkit.FaultyProvider;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultyProviderTest {
  private static final QueueName QUEUE = QueueName.of("q");
  private static final SessionId SESSION = SessionId.of("a");

  private final MemoryQueueProvider inner = MemoryQueueProvider.create(SettableClock.create());
  private final FaultyProvider faulty = FaultyProvider.around(inner, Faults.none(), 42);

  @BeforeEach
  void declareTheQueue() {
    inner.declare(QUEUE, QueueSettings.ordered());
  }

  @Test
  void withoutFaultsItIsTheProviderInside() throws Exception {
    send("a1");
    var session = accept();
    settle(session, receive(session), Settlement.complete());
    session.close();

    assertThat(inner.stats(QUEUE).depth()).isZero();
    assertThat(faulty.mishaps()).isZero();
    assertThat(faulty.sessions(QUEUE)).isInstanceOf(ResumableSessions.class);
    assertThat(faulty.capabilities()).isEqualTo(inner.capabilities());
  }

  @Test
  void callsFailOnDemandAndChangeNothing() {
    faulty.failNext(2);

    assertThatThrownBy(() -> send("a1")).isInstanceOf(KeeperException.Unavailable.class);
    assertThatThrownBy(this::accept).isInstanceOf(KeeperException.Unavailable.class);
    assertThat(inner.stats(QUEUE).depth()).isZero();
    assertThat(send("a1")).isInstanceOf(SendOutcome.Stored.class);
  }

  @Test
  void aLockIsLostOnDemandAndTheNextOwnerHasTheSession() throws Exception {
    send("a1");
    var session = accept();
    long sequence = receive(session);
    faulty.loseLock(SESSION);

    assertThatThrownBy(() -> settle(session, sequence, Settlement.complete()))
        .isInstanceOf(KeeperException.LockLost.class);
    var next = accept();
    assertThat(receive(next)).isEqualTo(sequence);
    assertThat(next.lease().epoch()).isGreaterThan(session.lease().epoch());
  }

  @Test
  void anAnswerIsLostAlthoughTheCallTookEffect() throws Exception {
    send("a1");
    var session = accept();
    long sequence = receive(session);
    faulty.change(Faults.none().withLostAnswers(1));

    assertThatThrownBy(() -> settle(session, sequence, Settlement.complete()))
        .isInstanceOf(KeeperException.OutcomeUnknown.class);
    assertThatThrownBy(() -> send("a2")).isInstanceOf(KeeperException.OutcomeUnknown.class);

    faulty.change(Faults.none());
    assertThat(inner.stats(QUEUE).depth()).isEqualTo(1);
    assertThat(faulty.mishaps()).isEqualTo(2);
  }

  @Test
  void aSendThatArrivesTwiceIsStoredOnce() {
    faulty.change(Faults.none().withRepeatedSends(1));

    assertThat(send("a1")).isInstanceOf(SendOutcome.Stored.class);
    assertThat(inner.stats(QUEUE).depth()).isEqualTo(1);
  }

  @Test
  void oneSeedGivesOneOrderOfFaults() {
    assertThat(failuresOf(7)).isEqualTo(failuresOf(7)).isNotEqualTo(failuresOf(8)).contains(true);
  }

  private List<Boolean> failuresOf(long seed) {
    var provider = FaultyProvider.around(inner, Faults.some().withUnavailable(0.3), seed);
    return IntStream.range(0, 50)
        .mapToObj(
            i -> {
              try {
                provider.queues();
                return false;
              } catch (KeeperException.Unavailable e) {
                return true;
              }
            })
        .toList();
  }

  private SendOutcome send(String body) {
    return faulty.send(QUEUE, List.of(Message.of(SESSION, Payload.text(body)))).getFirst();
  }

  private HeldSession accept() throws InterruptedException {
    return ((AcceptResult.Accepted) faulty.sessions(QUEUE).acceptNext(Owner.of("o"), Duration.ZERO))
        .session();
  }

  private static long receive(HeldSession session) throws InterruptedException {
    return session.receive(1, Duration.ZERO).getFirst().sequence();
  }

  private static void settle(HeldSession session, long sequence, Settlement settlement) {
    try {
      session
          .settle(List.of(new HeldSession.Settled(sequence, settlement)))
          .toCompletableFuture()
          .join();
    } catch (CompletionException e) {
      throw (KeeperException) e.getCause();
    }
  }
}
