package dev.sessionkeeper.server.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.server.security.ServerSecret;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.store.Actor;
import dev.sessionkeeper.testkit.DelegatingProvider;
import dev.sessionkeeper.testkit.SettableClock;
import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases of a provider that keeps them in this process, on a server whose clock is wrong. */
class HeldSessionsTest {
  private static final Actor OWNER = Actor.of("owner");
  private static final QueueName QUEUE = QueueName.of("q");
  private static final Duration LOCK = Duration.ofMinutes(1);

  private final SettableClock clock = SettableClock.create();
  private final DelegatingProvider provider =
      new DelegatingProvider(MemoryQueueProvider.create(clock));

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void everyLeaseThatWasJustGivenIsHonoured(long hoursAhead) throws Exception {
    declare();
    try (var held = held(Duration.ofHours(hoursAhead))) {
      var ids = new ArrayList<String>();
      for (int i = 0; i < 3; i++) {
        ids.add(held.add(QUEUE, OWNER, accept("s" + i)));
      }
      assertThat(ids)
          .allSatisfy(id -> assertThat(held.get(QUEUE, OWNER, id).renew().until()).isNotNull());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1})
  void aLeaseThatEndedIsRefusedAndForgotten(long hoursAhead) throws Exception {
    declare();
    try (var held = held(Duration.ofHours(hoursAhead))) {
      var lost = held.add(QUEUE, OWNER, accept("a"));
      clock.advance(LOCK.plusSeconds(1));
      assertThatThrownBy(() -> held.get(QUEUE, OWNER, lost).renew())
          .isInstanceOf(KeeperException.LockLost.class);
      held.add(QUEUE, OWNER, accept("b"));
      assertThatThrownBy(() -> held.get(QUEUE, OWNER, lost))
          .isInstanceOf(KeeperException.LockLost.class);
    }
  }

  @Test
  void aLeaseThatIsRenewedIsNotForgotten() throws Exception {
    declare();
    try (var held = held(Duration.ofHours(1))) {
      var renewed = held.add(QUEUE, OWNER, accept("a"));
      for (int i = 0; i < 5; i++) {
        clock.advance(LOCK.minusSeconds(10));
        held.get(QUEUE, OWNER, renewed).renew();
        held.add(QUEUE, OWNER, accept("other" + i));
      }
      assertThat(held.get(QUEUE, OWNER, renewed).id()).isEqualTo(SessionId.of("a"));
    }
  }

  @Test
  void aStolenLeaseIdIsOfNoUseToAnotherCredentialOrAtAnotherQueue() throws Exception {
    declare();
    var other = QueueName.of("other");
    provider.declare(other, QueueSettings.ordered());
    var thief = Actor.of("thief");
    try (var held = held(Duration.ZERO)) {
      var id = held.add(QUEUE, OWNER, accept("a"));
      for (var theft :
          List.<ThrowingCallable>of(
              () -> held.get(QUEUE, thief, id),
              () -> held.goOn(QUEUE, thief, id),
              () -> held.release(QUEUE, thief, id),
              () -> held.get(other, OWNER, id))) {
        assertThatThrownBy(theft).isInstanceOf(KeeperException.LockLost.class);
      }
      assertThat(held.get(QUEUE, OWNER, id).id()).isEqualTo(SessionId.of("a"));
    }
  }

  private void declare() {
    provider.declare(QUEUE, QueueSettings.ordered().withLockDuration(LOCK));
  }

  private HeldSession accept(String session) throws InterruptedException {
    provider.send(QUEUE, List.of(Message.of(SessionId.of(session), Payload.text("x"))));
    while (true) {
      var result = provider.sessions(QUEUE).acceptNext(Owner.of("test"), Duration.ZERO);
      var accepted = ((AcceptResult.Accepted) result).session();
      if (accepted.id().value().equals(session)) {
        return accepted;
      }
      accepted.close();
    }
  }

  private TimeSource wrong(Duration ahead) {
    return new TimeSource() {
      @Override
      public long nanoTime() {
        return clock.nanoTime();
      }

      @Override
      public Timer schedule(Duration delay, Runnable task) {
        return clock.schedule(delay, task);
      }

      @Override
      public Instant instant() {
        return clock.instant().plus(ahead);
      }
    };
  }

  private HeldSessions held(Duration ahead) {
    return new HeldSessions(
        new Queues(provider), ServerSecret.ofThisProcess(), Optional.empty(), wrong(ahead));
  }
}
