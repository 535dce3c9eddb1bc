package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;

/**
 * A caller that needs one session of a queue with a reader gets that session, and the reader
 * continues.
 */
class AskReaderTest extends ReadsAlone {
  private static final SessionId C = SessionId.of("c");

  private long epochOfReader() {
    return count(
        """
        SELECT COALESCE(max(r.epoch), 0) FROM keeper.reader r JOIN keeper.queue k ON k.id = r.queue
         WHERE k.name = ?
        """);
  }

  private AcceptResult accept(PostgresQueueProvider provider, SessionId session)
      throws InterruptedException {
    return provider.sessions(queue).accept(session, OTHER, Duration.ZERO);
  }

  private static HeldSession accepted(AcceptResult result) {
    return ((AcceptResult.Accepted) result).session();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    assertThat(
            count(
                """
                SELECT count(*) FROM keeper.ask a JOIN keeper.queue k ON k.id = a.queue
                 WHERE k.name = ? AND a.answered_at IS NULL
                """))
        .isZero();
  }

  @TestInRealTime
  void aSessionThatIsTakenByNameElsewhereIsTheOnlyOneWithALane() throws Exception {
    send(A, "1");
    send(B, "1");
    send(B, "2");
    send(C, "1");
    var held = take(reader, queue, ME);
    long epoch = epochOfReader();

    var named = accepted(accept(other, B));
    assertThat(receive(named)).isEqualTo("1");
    assertThat(receive(named)).isEqualTo("2");
    assertThat(epochOfReader()).as("it reads on").isEqualTo(epoch);
    assertThat(lanes()).isEqualTo(1);
    assertThat(receive(held)).isEqualTo("1");
    assertThat(take(reader, queue, ME).id()).as("carried still").isEqualTo(C);
    named.close();
  }

  @TestInRealTime
  void theReaderItselfTakesASessionByNameAndReadsOn() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    long epoch = epochOfReader();

    assertThat(receive(accepted(accept(reader, B)))).isEqualTo("1");
    assertThat(accept(reader, C)).isInstanceOf(AcceptResult.NoSession.class);
    assertThat(epochOfReader()).isEqualTo(epoch);
    held.close();
  }

  @TestInRealTime
  void aSessionThatTheReaderHasHandedOutIsLockedForOthers() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");

    assertThat(accept(other, A)).isInstanceOf(AcceptResult.Locked.class);
    complete(held, first());
    held.close();
    assertThat(readers()).isEqualTo(1);
  }

  private long first() {
    return count(
        "SELECT min(w.seq) FROM keeper.waiting_message w JOIN keeper.queue k ON k.id = w.queue WHERE k.name = ?");
  }

  /** The messages of the session are in pages that the reader has not read yet. */
  @TestInRealTime
  void aSessionDeepInAPileIsFoundByName() throws Exception {
    reader.close();
    var pile = new ArrayList<Message>();
    for (int i = 0; i < 300; i++) {
      pile.add(Message.of(SessionId.of("s" + i), Payload.text("1")));
    }
    pile.add(Message.of(B, Payload.text("1")));
    pile.add(Message.of(B, Payload.text("2")));
    other.send(queue, pile);
    reader =
        PostgresQueueProvider.create(
            database.pool(),
            PostgresOptions.ofDefaults().withCarryFrom(0).withPage(64).withBodyMemory(64));
    var held = take(reader, queue, ME);
    assertThat(readers()).isEqualTo(1);

    var named = accepted(accept(other, B));
    assertThat(receive(named)).isEqualTo("1");
    assertThat(receive(named)).isEqualTo("2");
    assertThat(readers()).isEqualTo(1);
    named.close();
    held.close();
  }

  @TestInRealTime
  void aSessionWithoutMessagesIsPausedElsewhere() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    long epoch = epochOfReader();

    assertThat(other.act(queue, B, Act.PAUSE, "test")).isEqualTo(1);
    send(B, "1");
    send(C, "1");
    assertThat(take(reader, queue, ME).id()).isEqualTo(C);
    assertThat(other.act(queue, B, Act.RESUME, "")).isEqualTo(1);
    var resumed = take(reader, queue, ME);
    assertThat(resumed.id()).isEqualTo(B);
    assertThat(receive(resumed)).isEqualTo("1");
    assertThat(epochOfReader()).isEqualTo(epoch);
    held.close();
  }

  @TestInRealTime
  void theReaderItselfActsOnASessionThatItCarriesAndReadsOn() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    long epoch = epochOfReader();

    assertThat(reader.act(queue, B, Act.DEAD_LETTER_ALL, "test")).isEqualTo(1);
    assertThat(reader.act(queue, A, Act.RELEASE, "test")).isEqualTo(1);
    assertThat(reader.act(queue, C, Act.RESUME, "test")).isZero();
    assertThat(epochOfReader()).isEqualTo(epoch);
    held.close();
  }

  /** Otherwise the reader might cache the session again before the caller reaches it. */
  @TestInRealTime
  void aLaneThatWasAskedForStaysForAWhile() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");
    assertThat(other.act(queue, B, Act.RESUME, "")).isZero();
    // Every 20 ms the reader looks for rows whose sessions it may cache again.
    await()
        .during(Duration.ofMillis(150))
        .atMost(SOON)
        .until(
            () -> {
              send(A, "more");
              return receive(held).equals("more") && lanes() == 1;
            });
    assertThat(database.count("lane", queue)).as("of the session that was asked for").isEqualTo(1);
    await().atMost(SOON).until(() -> isCarriedAgain(held));
    held.close();
  }

  private boolean isCarriedAgain(HeldSession held) throws Exception {
    send(A, "more");
    receive(held);
    return count(
            """
            SELECT count(*) FROM keeper.lane l JOIN keeper.queue k ON k.id = l.queue
             WHERE k.name = ? AND l.session = 'b'
            """)
        == 0;
  }

  /** Another process may take over after the lease has expired, and not before. */
  @TestInRealTime
  void aReaderThatStandsStillLeavesItsSessionsLocked() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    count(
        """
        WITH frozen AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'frozen',
                               until = clock_timestamp() + interval '1 hour'
                          FROM keeper.queue k WHERE k.id = r.queue AND k.name = ? RETURNING 1)
        SELECT count(*) FROM frozen
        """);

    var result = (AcceptResult.Locked) accept(other, A);
    assertThat(result.until()).isAfter(Instant.now().plus(Duration.ofMinutes(30)));
    count(
        "WITH gone AS (DELETE FROM keeper.ask a USING keeper.queue k WHERE k.id = a.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM gone");
    endReader();
    held.close();
  }
}
