package dev.sessionkeeper.postgres.settle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.TestDatabase;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Settlements of several sessions in one commit. Each has its own outcome. */
class SettleEachTest {
  private static final QueueName QUEUE = QueueName.of("each");
  private static final Duration SOON = Duration.ofSeconds(5);

  private TestDatabase database;
  private PostgresQueueProvider provider;

  @BeforeEach
  void start() {
    database = TestDatabase.start();
    provider =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(PostgresOptions.NEVER));
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  @Test
  void whoCannotBeSettledDoesNotKeepTheOthers() throws Exception {
    var held = take("a", "b", "c", "d", "e");

    var calls =
        List.of(
            call(held.get("a"), 0, Settlement.complete(), Optional.empty()),
            call(held.get("b"), 1, Settlement.complete(), Optional.empty()),
            call(held.get("c"), 0, Settlement.retryAfter(Duration.ofMinutes(5), "later"), state(0)),
            call(held.get("d"), 0, Settlement.complete(), state(7)),
            call(held.get("e"), 0, Settlement.deadLetter("bad"), Optional.empty()));
    var outcomes = run(calls);

    assertThat(outcomes)
        .extracting(SettleOutcome::name)
        .containsExactly("ok", "lost", "ok", "stale", "ok");
    assertThat(calls.get(2).result(outcomes.get(2))).as("version of the state").isEqualTo(1);
    assertThatThrownBy(() -> calls.get(1).result(outcomes.get(1)))
        .isInstanceOf(KeeperException.LockLost.class);
    assertThatThrownBy(() -> calls.get(3).result(outcomes.get(3)))
        .isInstanceOf(KeeperException.StaleState.class);
    var stats = provider.stats(QUEUE);
    assertThat(stats.depth()).as("b, c and d").isEqualTo(3);
    assertThat(stats.deadLetters()).isEqualTo(1);
    assertThat(held.get("d").state().version()).isZero();
  }

  @Test
  void whatIsNotTheFirstInHandIsRefusedAlone() throws Exception {
    var held = take("a", "b");
    var wrong =
        new SettleCall(
            SessionId.of("a"),
            held.get("a").lease().epoch(),
            true,
            List.of(new Settled(999_999, Settlement.complete())),
            false,
            Optional.empty());

    var outcomes =
        run(List.of(wrong, call(held.get("b"), 0, Settlement.complete(), Optional.empty())));

    assertThatThrownBy(() -> wrong.result(outcomes.get(0)))
        .isInstanceOf(KeeperException.OutOfOrder.class);
    assertThat(outcomes.get(1).name()).isEqualTo("ok");
  }

  /** Seen red with the limit of attempts left out, and with epochs that are not compared. */
  @Test
  void failuresAreCountedTogetherUntilAMessageHasNoAttemptLeft() throws Exception {
    provider.declare(QUEUE, QueueSettings.ordered().withMaxDeliveryCount(2));
    var limited = Settlement.retryAfter(Duration.ZERO, "no");
    var held = take("a", "b", "c", "d");
    var first =
        List.of(
            call(held.get("a"), 0, limited, Optional.empty()),
            call(held.get("b"), 1, limited, Optional.empty()),
            call(held.get("c"), 0, Settlement.keepRetrying(Duration.ZERO, "no"), Optional.empty()),
            call(held.get("d"), 0, limited, Optional.empty()));
    assertThat(run(first))
        .extracting(SettleOutcome::name)
        .containsExactly("ok", "lost", "ok", "ok");
    held.values().forEach(HeldSession::close);

    held = take(4);
    for (var session : held.entrySet()) {
      assertThat(session.getValue().receive(1, SOON).get(0).attempt())
          .as(session.getKey())
          .isEqualTo(session.getKey().equals("b") ? 1 : 2);
      session.getValue().close();
    }
    held = take(4);
    var second =
        List.of(
            call(held.get("a"), 0, limited, Optional.empty()),
            call(held.get("b"), 0, limited, Optional.empty()),
            call(held.get("c"), 0, Settlement.keepRetrying(Duration.ZERO, "no"), Optional.empty()),
            call(held.get("d"), 0, Settlement.complete(), Optional.empty()));
    assertThat(run(second)).extracting(SettleOutcome::name).containsOnly("ok");
    assertThat(provider.stats(QUEUE).deadLetters()).as("only a").isEqualTo(1);
    assertThat(provider.stats(QUEUE).depth()).as("b and c").isEqualTo(2);
  }

  private Map<String, HeldSession> take(String... sessions) throws InterruptedException {
    for (var session : sessions) {
      provider.send(QUEUE, List.of(Message.of(SessionId.of(session), Payload.text(session))));
    }
    return take(sessions.length);
  }

  private Map<String, HeldSession> take(int count) throws InterruptedException {
    var held = new TreeMap<String, HeldSession>();
    while (held.size() < count) {
      var next = provider.sessions(QUEUE).acceptNext(Owner.of("me"), SOON);
      var session = ((AcceptResult.Accepted) next).session();
      held.put(session.id().value(), session);
    }
    return held;
  }

  private static SettleCall call(
      HeldSession held, long tooMuch, Settlement settlement, Optional<SessionState.Write> state)
      throws InterruptedException {
    var delivery = held.receive(1, SOON).get(0);
    return new SettleCall(
        held.id(),
        held.lease().epoch() + tooMuch,
        false,
        List.of(new Settled(delivery.sequence(), settlement)),
        false,
        state);
  }

  private static Optional<SessionState.Write> state(long version) {
    return Optional.of(new SessionState.Write(new byte[] {1}, version));
  }

  private List<SettleOutcome> run(List<SettleCall> calls) throws SQLException {
    int queue = (int) database.number("SELECT id FROM keeper.queue WHERE name = ?", QUEUE);
    try (var connection = database.pool().getConnection()) {
      return SettleEach.run(connection, queue, 1, calls);
    }
  }
}
