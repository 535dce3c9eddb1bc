package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A reader writes nothing after the database has forgotten its lease, as after a crash. A hold
 * settles nothing under a later lease of its reader.
 */
class ReaderFencesTest extends ReadsAlone {
  private static final SessionId C = SessionId.of("c");

  /** After a crash the unlogged table is empty; everything else is unchanged. */
  private static final String CRASH =
      """
      WITH lost AS (DELETE FROM keeper.reading x USING keeper.queue k WHERE k.id = x.queue AND k.name = ? RETURNING 1)
      SELECT count(*) FROM lost
      """;

  /** The id of a lost transaction is used again after the crash. */
  private static final String REUSE =
      """
      WITH reused AS (UPDATE keeper.bundle b SET xid = ?::text::xid8 FROM keeper.queue k
                       WHERE k.id = b.queue AND k.name = ? RETURNING 1)
      SELECT count(*) FROM reused
      """;

  private static final String WAITING =
      """
      SELECT count(*) FROM pg_stat_activity a JOIN keeper.queue k ON k.name = ?
       WHERE a.wait_event_type = 'Lock' AND a.query LIKE '%keeper.settle_lanes%'
      """;

  private static final String FORGET_READER =
      """
      WITH reader AS (DELETE FROM keeper.reader r USING keeper.queue k WHERE k.id = r.queue AND k.name = ? RETURNING r.queue),
           known AS (UPDATE keeper.discovery d SET known = pg_current_snapshot(), asked_at = NULL FROM reader
                      WHERE d.queue = reader.queue RETURNING 1)
      SELECT count(*) FROM known
      """;

  @TestInRealTime
  void aReaderThatTheDatabaseHasForgottenCompletesNothing() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    var delivery = held.receive(1, SOON).get(0);
    assertThat(lanes()).isZero();
    assertThat(count(CRASH)).isEqualTo(1);

    assertThatThrownBy(() -> complete(held, delivery.sequence()))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    assertThat(database.count("waiting_message", queue)).isEqualTo(1);
    held.close();
    var again = take(reader, queue, ME);
    assertThat(again.receive(1, SOON).get(0).sequence()).isEqualTo(delivery.sequence());
    complete(again, delivery.sequence());
    again.close();
  }

  /** The old handler may still run and its lease has not expired, so no second one may run. */
  @TestInRealTime
  void aSessionIsNotTakenAgainBeforeItsLostHoldHasEnded() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    held.receive(1, SOON);
    count(CRASH);
    assertThatThrownBy(() -> complete(held, 1)).isInstanceOf(ExecutionException.class);

    assertThat(reader.sessions(queue).acceptNext(OTHER, Duration.ofMillis(300)))
        .isInstanceOf(AcceptResult.NoSession.class);
    held.close();
    assertThat(take(reader, queue, OTHER).id()).isEqualTo(A);
  }

  @TestInRealTime
  void aReaderThatTheDatabaseHasForgottenGivesNoSessionALane() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    var delivery = held.receive(1, SOON).get(0);
    count(CRASH);

    var retry = new Settled(delivery.sequence(), Settlement.retryAfter(Duration.ofMillis(1), "no"));
    assertThatThrownBy(() -> held.settle(List.of(retry)).toCompletableFuture().get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    held.close();
    assertThat(take(reader, queue, ME).receive(1, SOON).get(0).attempt())
        .as("nothing was counted")
        .isEqualTo(1);
  }

  /** The snapshot in memory contains transaction ids that are used again after the crash. */
  @TestInRealTime
  void nothingIsStrandedWhenAReaderClosesAfterACrash() throws Exception {
    readUpTo(reader);
    long lost = transaction();
    reader.stats(queue);
    storeAfterCrash(lost);
    reader.close();

    assertThat(receive(take(other, queue, OTHER))).isEqualTo("after the crash");
  }

  @TestInRealTime
  void nothingIsStrandedWhenReadingEndsForWantOfWorkAfterACrash() throws Exception {
    var time = new ShiftedTime();
    var options = PostgresOptions.ofDefaults().withCarryFrom(1);
    try (var idle = PostgresQueueProvider.create(database.pool(), options, time)) {
      readUpTo(idle);
      long lost = transaction();
      idle.stats(queue);
      storeAfterCrash(lost);
      time.forward(Duration.ofMillis(2100));
      idle.stats(queue);

      assertThat(receive(take(other, queue, OTHER))).isEqualTo("after the crash");
    }
  }

  /**
   * The settlement waits behind another one while the reader loses its lease and gets a new one. By
   * then the message has another owner.
   */
  @TestInRealTime
  void aHoldOfAnEarlierReadingSettlesNothingInTheNextOne() throws Exception {
    send(C, "1");
    var slow = take(reader, queue, ME);
    var head = slow.receive(1, SOON).get(0);
    slow.settle(
            List.of(
                new Settled(head.sequence(), Settlement.retryAfter(Duration.ofMillis(1), "no"))))
        .toCompletableFuture()
        .get();
    long open = slow.receive(1, SOON).get(0).sequence();
    send(A, "1");
    var first = take(reader, queue, ME);
    long message = first.receive(1, SOON).get(0).sequence();

    CompletableFuture<Void> late;
    HeldSession second;
    try (var blocker = database.pool().getConnection()) {
      blocker.setAutoCommit(false);
      lockLane(blocker, C);
      var blocked = settle(slow, open);
      await().atMost(SOON).until(() -> count(WAITING) == 1);
      late = settle(first, message);
      assertThat(count(FORGET_READER)).isEqualTo(1);
      second = take(reader, queue, ME);
      assertThat(second.id()).isEqualTo(A);
      assertThat(second.receive(1, SOON).get(0).sequence()).isEqualTo(message);
      assertThat(lanes()).as("only the slow one").isEqualTo(1);
      blocker.rollback();
      blocked.get();
    }

    assertThatThrownBy(late::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    complete(second, message);
    second.close();
    slow.close();
  }

  /** Becomes a reader, and reads until nothing is left. */
  private void readUpTo(PostgresQueueProvider provider) throws Exception {
    while (readers() == 0 || lanes() > 0) {
      send(A, "before");
      var held = take(provider, queue, ME);
      complete(held, held.receive(1, SOON).get(0).sequence());
      held.close();
    }
  }

  private long transaction() {
    return count("SELECT pg_current_xact_id()::text::bigint FROM keeper.queue WHERE name = ?");
  }

  /** Stores in one transaction, so that no poll sees a part of it. */
  private void storeAfterCrash(long transaction) throws SQLException {
    try (var connection = database.pool().getConnection()) {
      connection.setAutoCommit(false);
      try (var crash = connection.prepareStatement(CRASH)) {
        crash.setString(1, queue.value());
        crash.execute();
      }
      other.send(connection, queue, List.of(Message.of(A, Payload.text("after the crash"))));
      try (var reuse = connection.prepareStatement(REUSE)) {
        reuse.setString(1, Long.toString(transaction));
        reuse.setString(2, queue.value());
        reuse.execute();
      }
      connection.commit();
    }
  }

  private void lockLane(Connection connection, SessionId session) throws SQLException {
    try (var statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM keeper.lane l JOIN keeper.queue k ON k.id = l.queue
             WHERE k.name = ? AND l.session = ? FOR UPDATE OF l
            """)) {
      statement.setString(1, queue.value());
      statement.setString(2, session.value());
      statement.execute();
    }
  }

  private static CompletableFuture<Void> settle(HeldSession held, long sequence) {
    return held.settle(List.of(new Settled(sequence, Settlement.complete()))).toCompletableFuture();
  }
}
