package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.postgres.batch.Buckets;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests that shares of a queue change their readers while sessions are held and settled. A comment
 * that begins with "Red" names the planted bug that makes the test fail.
 */
class ChangesOfPartsTest extends ReadsInParts {
  /**
   * The advisory lock at which a settlement that writes a completion record waits, after its fence.
   */
  private static final long GATE = 4712;

  private static final Duration LATER = Duration.ofSeconds(20);

  private static final String DIE =
      """
      WITH dead AS (UPDATE keeper.reader r SET node = 'dead', until = clock_timestamp() - interval '1 ms'
                      FROM keeper.queue k
                     WHERE k.id = r.queue AND k.name = ? AND keeper.is_of('%s', r.owns) RETURNING 1)
      SELECT count(*) FROM dead
      """;

  private static final String AT_GATE =
      """
      SELECT count(*) FROM pg_locks l JOIN keeper.queue k ON k.name = ?
       WHERE l.locktype = 'advisory' AND l.objid = 4712 AND NOT l.granted
      """;

  private static final String WAITING_FOR_ROWS =
      """
      SELECT count(*) FROM pg_stat_activity a JOIN keeper.queue k ON k.name = ?
       WHERE a.wait_event_type = 'Lock' AND a.query LIKE '%keeper.settle_carried%'
      """;

  @BeforeAll
  void buildGate() throws SQLException {
    PostgresQueueProvider.create(database.pool()).close(); // Creates the tables.
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE FUNCTION keeper.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(4712); RETURN NULL; END';
          CREATE TRIGGER gate AFTER INSERT ON keeper.completion
            FOR EACH ROW EXECUTE FUNCTION keeper.wait_at_gate();
          """);
    }
  }

  /** Sets leases that outlast a test on a busy machine. */
  @BeforeEach
  void lockForLong() {
    reader.declare(queue, QueueSettings.ordered().withLockDuration(Duration.ofSeconds(20)));
  }

  /** Red without FOR KEY SHARE in settle_carried: the next reader handles the message again. */
  @TestInRealTime
  void aPartMovesOnlyAfterSettlementsInFlight() throws Exception {
    var high = ofHalf(false, 0);
    sendTogether(ofHalf(true, 0), high);
    var one = take(reader, queue, ME);
    var another = take(reader, queue, ME);
    var held = one.id().equals(high) ? one : another;
    long message = held.receive(1, SOON).get(0).sequence();

    CompletableFuture<Void> completed;
    try (var gate = database.pool().getConnection()) {
      lock(gate);
      completed = settle(held, message);
      await().atMost(SOON).until(() -> count(AT_GATE) == 1);
      want(second, OTHER, Duration.ofMillis(50));
      // The second process waits for its part; the first one must keep it.
      assertThat(second.sessions(queue).acceptNext(OTHER, Duration.ofMillis(700)))
          .isInstanceOf(AcceptResult.NoSession.class);
      assertThat(completed).isNotDone();
      unlock(gate);
    }
    completed.get();
    one.close();
    another.close();
    share();
    assertThat(drain()).containsOnlyKeys(ofHalf(true, 0));
  }

  /** Red without fold_notes in bury_readers: completed messages are delivered again. */
  @TestInRealTime
  void messagesCompletedByADeadReaderAreNotHandledAgain() throws Exception {
    share();
    var sessions = List.of(ofHalf(false, 0), ofHalf(false, 1), ofHalf(false, 2));
    sendTogether(sessions.toArray(SessionId[]::new));
    var dying = ownerOf(sessions.get(0));
    var held = take(dying, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());
    assertThat(database.count("completion", queue)).isEqualTo(1);
    die(sessions.get(0));

    var left = new HashSet<>(sessions);
    left.remove(held.id());
    var handled = new HashMap<SessionId, Integer>();
    var living = dying.equals(reader) ? second : reader;
    await().atMost(SOON).until(() -> drain(living, handled).keySet().containsAll(left));
    drain(living, handled);
    assertThat(handled).containsOnlyKeys(left);
    held.close();
  }

  /** The process refuses this settlement itself; ReaderFencesTest is about the fence. */
  @TestInRealTime
  void aReaderThatResumesAfterItsLeaseSettlesNothing() throws Exception {
    share();
    var session = ofHalf(false, 0);
    sendTogether(session, ofHalf(false, 1));
    var stopped = ownerOf(session);
    var held = taken(stopped, session);
    long message = held.receive(1, SOON).get(0).sequence();
    die(session);
    var living = stopped.equals(reader) ? second : reader;
    var again = taken(living, session);
    assertThat(again.receive(1, SOON).get(0).sequence()).isEqualTo(message);

    complete(again, message);
    again.close();

    assertThatThrownBy(() -> complete(held, message))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    held.close();
    await().atMost(SOON).until(() -> drain(living, new HashMap<>()) != null && batches() == 0);
  }

  /** Red if tick_off deletes a batch without reading all of its bits: a message is lost. */
  @TestInRealTime
  void aBundleOfTwoReadersIsDeletedWithItsLastMessage() throws Exception {
    var low = ofHalf(true, 0);
    var high = ofHalf(false, 0);
    var third = ofHalf(true, 1);
    other.send(
        queue,
        List.of(
            Message.of(low, Payload.text("1")),
            Message.of(high, Payload.text("1")),
            Message.of(third, Payload.text("1"))));
    assertThat(batches()).isEqualTo(1);
    share();
    var one = taken(ownerOf(low), low);
    var two = taken(ownerOf(high), high);
    long first = one.receive(1, SOON).get(0).sequence();
    long last = two.receive(1, SOON).get(0).sequence();

    try (var blocker = database.pool().getConnection()) {
      blocker.setAutoCommit(false);
      try (var statement =
          blocker.prepareStatement(
              "SELECT 1 FROM keeper.bundle b JOIN keeper.queue k ON k.id = b.queue WHERE k.name = ? FOR UPDATE OF b")) {
        statement.setString(1, queue.value());
        statement.execute();
      }
      var both = List.of(settle(one, first), settle(two, last));
      await().atMost(SOON).until(() -> count(WAITING_FOR_ROWS) == 2);
      blocker.rollback();
      for (var each : both) {
        each.get();
      }
    }
    one.close();
    two.close();
    assertThat(batches()).as("one message is left").isEqualTo(1);
    assertThat(drain()).containsOnlyKeys(third);
    assertThat(batches()).isZero();
  }

  /** Red if a reader gives up its share without session rows for held sessions. */
  @TestInRealTime
  void aHeldSessionSurvivesThatItsPartMovesAwayAndBack() throws Exception {
    var ids = List.of(ofHalf(true, 0), ofHalf(false, 0));
    sendTogether(ids.toArray(SessionId[]::new));
    var holds = List.of(take(reader, queue, ME), take(reader, queue, ME));
    var open = new ArrayList<Long>();
    for (var held : holds) {
      open.add(held.receive(1, SOON).get(0).sequence());
    }
    share();
    ids.forEach(id -> send(id, "behind"));
    // The next reader has read these messages, and must not hand them out.
    assertThat(second.sessions(queue).acceptNext(OTHER, Duration.ofMillis(200)))
        .isInstanceOf(AcceptResult.NoSession.class);
    second.close();
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              want(reader, ME, Duration.ZERO);
              assertThat(owned()).isEqualTo(Buckets.ALL);
              assertThat(readers()).isEqualTo(1);
            });
    for (int i = 0; i < holds.size(); i++) {
      var held = holds.get(i);
      complete(held, open.get(i));
      var next = held.receive(1, SOON).get(0);
      assertThat(next.payload().asText()).isEqualTo("behind");
      complete(held, next.sequence());
      held.close();
    }
    ids.forEach(id -> send(id, "later"));
    var taken = new HashSet<SessionId>();
    for (int i = 0; i < ids.size(); i++) {
      var held = take(reader, queue, ME);
      assertThat(receive(held)).isEqualTo("later");
      taken.add(held.id());
    }
    assertThat(taken).containsExactlyInAnyOrderElementsOf(ids);
  }

  /** Red if a reader treats a batch of several readers as its own: messages are lost. */
  @TestInRealTime
  void bundlesOfTwoPartsAreReadByThreeProcesses() throws Exception {
    share();
    var messages = new ArrayList<Message>();
    for (int i = 0; i < 60; i++) {
      messages.add(Message.of(SessionId.of("s" + i), Payload.text("1")));
    }
    second.send(queue, messages);
    assertThat(batches()).isEqualTo(2);
    var options = PostgresOptions.ofDefaults().withCarryFrom(0);
    try (var third = PostgresQueueProvider.create(database.pool(), options)) {
      want(third, OTHER, Duration.ofMillis(50));
      await().atMost(SOON).until(() -> readers() == 3 && owned() == Buckets.ALL);
      var handled = new HashMap<SessionId, Integer>();
      await()
          .atMost(LATER)
          .until(
              () -> {
                for (var provider : List.of(reader, second, third)) {
                  drain(provider, handled);
                }
                return handled.size() == 60;
              });
      assertThat(handled.values()).containsOnly(1);
      assertThat(batches()).isZero();
    }
  }

  /** Red if a busy reader gives no sessions away. */
  @TestInRealTime
  void anIdleProcessGetsSessionsOfABusyOneWithinASecond() throws Exception {
    share();
    var low = new ArrayList<SessionId>();
    for (int i = 0; i < 20; i++) {
      low.add(ofHalf(true, i));
    }
    var busy = ownerOf(low.get(0));
    var idle = busy.equals(reader) ? second : reader;
    sendTogether(low.toArray(SessionId[]::new));
    for (int i = 0; i < 5; i++) {
      var accepted = idle.sessions(queue).acceptNext(OTHER, Duration.ofSeconds(1));
      assertThat(accepted).as("session %d", i).isInstanceOf(AcceptResult.Accepted.class);
      var held = ((AcceptResult.Accepted) accepted).session();
      assertThat(low.remove(held.id())).isTrue();
      complete(held, held.receive(1, SOON).get(0).sequence());
      held.close();
    }
  }

  /** Red if an idle reader keeps its share. */
  @TestInRealTime
  void aProcessWithoutDemandLeavesItsPart() throws Exception {
    share();
    var waits =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return reader.sessions(queue).acceptNext(ME, LATER);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    await().atMost(LATER).until(() -> readers() == 1 && owned() == Buckets.ALL);
    send(ofHalf(false, 0), "1");
    send(ofHalf(true, 0), "1");
    assertThat(waits.get()).isInstanceOf(AcceptResult.Accepted.class);
    assertThat(drain(reader, new HashMap<>())).hasSize(1);
  }

  private void sendTogether(SessionId... sessions) {
    var messages = new ArrayList<Message>();
    for (var session : sessions) {
      messages.add(Message.of(session, Payload.text("1")));
    }
    second.send(queue, messages);
  }

  private void die(SessionId session) {
    assertThat(count(DIE.formatted(session))).isEqualTo(1);
  }

  /** Takes this session, and gives back those that come before it. */
  private HeldSession taken(PostgresQueueProvider provider, SessionId wanted) throws Exception {
    var others = new ArrayList<HeldSession>();
    try {
      while (true) {
        var held = take(provider, queue, OTHER);
        if (held.id().equals(wanted)) {
          return held;
        }
        others.add(held);
      }
    } finally {
      others.forEach(HeldSession::close);
    }
  }

  private HashMap<SessionId, Integer> drain() throws Exception {
    var handled = new HashMap<SessionId, Integer>();
    drain(reader, handled);
    return drain(second, handled);
  }

  /** Handles the sessions that this process gets, and counts messages. */
  private HashMap<SessionId, Integer> drain(
      PostgresQueueProvider provider, HashMap<SessionId, Integer> handled) throws Exception {
    while (provider.sessions(queue).acceptNext(ME, Duration.ofMillis(100))
        instanceof AcceptResult.Accepted accepted) {
      var held = accepted.session();
      for (var delivery : held.receive(10, Duration.ZERO)) {
        handled.merge(held.id(), 1, Integer::sum);
        complete(held, delivery.sequence());
      }
      held.close();
    }
    return handled;
  }

  private static CompletableFuture<Void> settle(HeldSession held, long sequence) {
    return held.settle(List.of(new Settled(sequence, Settlement.complete()))).toCompletableFuture();
  }

  private static void lock(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_lock(" + GATE + ")");
    }
  }

  private static void unlock(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_unlock(" + GATE + ")");
    }
  }
}
