package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What is special about sessions that one process carries, beside the contract they keep. */
@Execution(ExecutionMode.SAME_THREAD)
class CarriedSessionsTest {
  private static final Owner ME = Owner.of("me");
  private static final Owner OTHER = Owner.of("other");
  private static final SessionId A = SessionId.of("a");
  private static final SessionId B = SessionId.of("b");
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final AtomicInteger queues = new AtomicInteger();

  private static TestDatabase database;

  private final QueueName queue = QueueName.of("carried-" + queues.incrementAndGet());
  private PostgresQueueProvider reader;
  private PostgresQueueProvider other;

  @BeforeAll
  static void startDatabase() {
    database = TestDatabase.start();
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void open() {
    var options = PostgresOptions.ofDefaults().withCarryFrom(0);
    reader = PostgresQueueProvider.create(database.pool(), options);
    other = PostgresQueueProvider.create(database.pool(), options.withCarryFrom(32));
    reader.declare(queue, QueueSettings.ordered().withLockDuration(Duration.ofSeconds(3)));
  }

  @AfterEach
  void close() {
    other.close();
    reader.close();
  }

  private void send(SessionId session, String body) {
    reader.send(queue, List.of(Message.of(session, Payload.text(body))));
  }

  private static HeldSession take(PostgresQueueProvider provider, QueueName queue, Owner owner)
      throws InterruptedException {
    return ((AcceptResult.Accepted) provider.sessions(queue).acceptNext(owner, SOON)).session();
  }

  private static String receive(HeldSession held) throws InterruptedException {
    return held.receive(1, SOON).get(0).payload().asText();
  }

  private static void complete(HeldSession held, long sequence) throws Exception {
    held.settle(List.of(new Settled(sequence, Settlement.complete()))).toCompletableFuture().get();
  }

  private long count(String sql) {
    return database.number(sql, queue);
  }

  private long lanes() {
    return database.count("lane", queue);
  }

  private long readers() {
    return database.count("reader", queue);
  }

  @TestInRealTime
  void aSessionThatIsHandledAtOnceNeverHasALane() throws Exception {
    send(A, "1");
    send(A, "2");
    var held = take(reader, queue, ME);
    var batch = held.receive(2, SOON);

    assertThat(readers()).isEqualTo(1);
    assertThat(lanes()).isZero();
    complete(held, batch.get(0).sequence());
    complete(held, batch.get(1).sequence());
    held.close();
    assertThat(lanes()).isZero();
    assertThat(reader.stats(queue).depth()).isZero();
  }

  @TestInRealTime
  void whatIsHeldForLongHasALaneThatOthersSee() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");

    await().atMost(SOON).until(() -> lanes() == 1);
    assertThat(other.sessions(queue).accept(A, OTHER, Duration.ZERO))
        .isInstanceOf(AcceptResult.Locked.class);
    held.renew();
    held.close();
  }

  @TestInRealTime
  void newMessagesComeToAHeldSessionByThemselves() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");
    send(A, "2");
    assertThat(receive(held)).isEqualTo("2");
    held.close();
  }

  @TestInRealTime
  void whatIsGivenBackUnsettledComesAgainInOrderAndUncounted() throws Exception {
    send(A, "1");
    send(A, "2");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");
    held.close();

    var again = take(reader, queue, ME);
    var batch = again.receive(2, SOON);
    assertThat(batch).extracting(d -> d.payload().asText()).containsExactly("1", "2");
    assertThat(batch.get(0).attempt()).isEqualTo(1);
    assertThat(again.lease().epoch()).isGreaterThan(held.lease().epoch());
    again.close();
  }

  @TestInRealTime
  void aRetryGivesItALaneAndHoldsBackWhatIsBehind() throws Exception {
    send(A, "1");
    send(A, "2");
    var held = take(reader, queue, ME);
    var first = held.receive(1, SOON).get(0);
    held.settle(List.of(new Settled(first.sequence(), Settlement.retryAfter(Duration.ZERO, "no"))))
        .toCompletableFuture()
        .get();
    var second = held.receive(1, SOON).get(0);

    assertThat(second.payload().asText()).isEqualTo("1");
    assertThat(second.attempt()).isEqualTo(2);
    held.close();
  }

  @TestInRealTime
  void anotherProcessThatWantsSessionsGetsThem() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    var others = take(other, queue, OTHER);

    assertThat(others.id()).isNotEqualTo(held.id());
    assertThat(receive(others)).isEqualTo("1");
    assertThat(receive(held)).isEqualTo("1");
    assertThat(readers()).isZero();
    held.close();
    others.close();
  }

  @TestInRealTime
  void anOperatorElsewherePausesASessionThatIsCarried() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    var waits = held.id().equals(A) ? B : A;

    assertThat(other.act(queue, waits, OperableSessions.Act.PAUSE, "look")).isEqualTo(1);

    held.close();
    var next = take(reader, queue, ME);
    assertThat(next.id()).isEqualTo(held.id());
    assertThat(reader.sessions(queue).acceptNext(ME, Duration.ZERO))
        .isInstanceOf(AcceptResult.NoSession.class);
    next.close();
  }

  @TestInRealTime
  void aHoldOfAReaderThatWasReplacedCanSettleNothing() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    var delivery = held.receive(1, SOON).get(0);
    count(
        """
        WITH gone AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'somebody' FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM gone
        """);

    assertThatThrownBy(() -> complete(held, delivery.sequence()))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    assertThat(
            count(
                "SELECT count(*) FROM keeper.waiting_message m JOIN keeper.queue k ON k.id = m.queue WHERE"
                    + " k.name = ?"))
        .isEqualTo(1);
  }

  @TestInRealTime
  void whatADeadReaderHadReadIsFoundAgainAndCountsAsTried() throws Exception {
    send(A, "1");
    take(reader, queue, ME);
    count(
        """
        WITH dead AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'dead', until = clock_timestamp()
                        FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM dead
        """);
    send(B, "later");

    var found = take(other, queue, OTHER);
    var next = take(other, queue, OTHER);
    var ofA = found.id().equals(A) ? found : next;
    assertThat(ofA.receive(1, SOON).get(0).attempt()).isEqualTo(2);
    found.close();
    next.close();
  }

  @TestInRealTime
  void moreThanFitsIntoMemoryIsReadBitByBit() throws Exception {
    reader.send(queue, List.of(Message.of(A, Payload.bytes(new byte[250_000], "x"))));
    var held = take(reader, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());
    // After one so large only some hundred are expected to fit.
    reader.send(
        queue, IntStream.range(0, 400).mapToObj(i -> Message.of(A, Payload.text("" + i))).toList());

    var received = new ArrayList<String>();
    while (received.size() < 400) {
      for (var delivery : held.receive(50, SOON)) {
        received.add(delivery.payload().asText());
        complete(held, delivery.sequence());
      }
    }
    assertThat(received)
        .containsExactlyElementsOf(IntStream.range(0, 400).mapToObj(i -> "" + i).toList());
    assertThat(readers()).isEqualTo(1);
    held.close();
  }

  @TestInRealTime
  void whatHadPiledUpIsReadInOrderAndGetsNoLanes() throws Exception {
    var late = SessionId.of("late");
    for (int batch = 0; batch < 6; batch++) {
      int first = batch * 1000;
      reader.send(
          queue,
          IntStream.range(first, first + 1000)
              .mapToObj(i -> Message.of(SessionId.of("s" + i % 30), Payload.text("" + i)))
              .toList());
    }
    send(late, "before");

    var seen = new HashMap<SessionId, List<String>>();
    int count = 0;
    try (var first = take(other, queue, OTHER)) {
      assertThat(first.id()).isEqualTo(SessionId.of("s0"));
      assertThat(lanes()).isZero();
      assertThat(readers()).isEqualTo(1);
      // Its pile has not been read yet: it must not overtake.
      send(late, "after");
      count += handle(first, seen);
    }
    while (count < 6002) {
      try (var held = take(other, queue, OTHER)) {
        count += handle(held, seen);
      }
    }
    assertThat(seen.remove(late)).containsExactly("before", "after");
    assertThat(seen).hasSize(30);
    for (int session = 0; session < 30; session++) {
      int of = session;
      assertThat(seen.get(SessionId.of("s" + session)))
          .containsExactlyElementsOf(
              IntStream.range(0, 200).mapToObj(i -> "" + (i * 30 + of)).toList());
    }
  }

  private static int handle(HeldSession held, Map<SessionId, List<String>> seen) throws Exception {
    int count = 0;
    for (var batch = held.receive(50, Duration.ZERO);
        !batch.isEmpty();
        batch = held.receive(50, Duration.ZERO)) {
      var settled = new ArrayList<Settled>();
      for (var delivery : batch) {
        seen.computeIfAbsent(held.id(), id -> new ArrayList<>()).add(delivery.payload().asText());
        settled.add(new Settled(delivery.sequence(), Settlement.complete()));
      }
      held.settle(settled).toCompletableFuture().get();
      count += batch.size();
    }
    return count;
  }

  @TestInRealTime
  void theInspectorShowsSessionsThatHaveNotBeenReadYet() throws Exception {
    var all = new ArrayList<Message>();
    for (int i = 0; i < 40; i++) {
      all.add(Message.of(SessionId.of("s" + (10 + i)), Payload.text("x")));
    }
    var options = PostgresOptions.ofDefaults().withCarryFrom(0).withPage(2);
    try (var inPages = PostgresQueueProvider.create(database.pool(), options)) {
      inPages.send(queue, all);
      var first = take(inPages, queue, ME);
      assertThat(first.id()).isEqualTo(SessionId.of("s10"));

      var shown = inPages.inspect(queue, Optional.empty(), Page.Request.first(100)).items();
      assertThat(shown).hasSize(40);
      first.close();
    }
  }

  @TestInRealTime
  void whatIsCarriedIsCountedWithoutBeingWrittenDown() throws Exception {
    send(A, "1");
    send(B, "1");
    var held = take(reader, queue, ME);
    var stats = reader.stats(queue);
    assertThat(stats.heldSessions()).isEqualTo(1);
    assertThat(stats.readySessions()).isEqualTo(1);
    assertThat(stats.depth()).isEqualTo(2);
    held.close();
    assertThat(reader.stats(queue).readySessions()).isEqualTo(2);
    assertThat(readers()).isEqualTo(1);
  }

  @TestInRealTime
  void aPageIsBoundedByItsBytesToo() throws Exception {
    for (int i = 0; i < 10; i++) {
      reader.send(queue, List.of(Message.of(A, Payload.bytes(new byte[1000], "x"))));
    }
    var all = page(100, 1_000_000, 0);
    assertThat(all.messages).hasSize(10);
    assertThat(all.upTo).isZero();

    var part = page(100, 3_500, 0);
    assertThat(part.messages).containsExactlyElementsOf(all.messages.subList(0, 3));
    assertThat(part.upTo).isEqualTo(all.messages.get(2));
    assertThat(page(4, 1_000_000, part.upTo).messages)
        .containsExactlyElementsOf(all.messages.subList(3, 7));
    assertThat(page(100, 10, all.messages.get(8)).messages)
        .as("one at least, however large")
        .containsExactly(all.messages.get(9));
  }

  /** Who sends while a page is read may draw a number after the reader has looked at the last. */
  @TestInRealTime
  void aNumberThatIsDrawnMeanwhileBelongsToThePage() throws Exception {
    send(A, "1");
    send(A, "2");
    count(
        """
        WITH later AS (UPDATE keeper.bundle b SET first_seq = b.first_seq + 1000000, last_seq = b.last_seq + 1000000
                         FROM keeper.queue k
                        WHERE k.id = b.queue AND k.name = ? AND b.bodies[1] = '2'::bytea RETURNING 1)
        SELECT count(*) FROM later
        """);
    assertThat(page(100, 1_000_000, 0).messages).hasSize(2);
  }

  private record Read(List<Long> messages, long upTo) {}

  private Read page(int most, long mostBytes, long after) throws SQLException {
    try (var connection = database.pool().getConnection();
        var become =
            connection.prepareStatement(
                "SELECT b.* FROM keeper.queue k, keeper.become_reader(k.id, 'test', 0, 0) b WHERE k.name = ?");
        var read =
            connection.prepareStatement(
                """
                SELECT n.kind, n.seq
                  FROM keeper.queue k, keeper.reader r,
                       keeper.read_new(k.id, r.epoch, '1:1:', 0, pg_current_snapshot()::text, ?, ?, ?, false, true) n
                 WHERE k.name = ? AND r.queue = k.id
                """)) {
      become.setString(1, queue.value());
      become.execute();
      read.setLong(1, after);
      read.setInt(2, most);
      read.setLong(3, mostBytes);
      read.setString(4, queue.value());
      var messages = new ArrayList<Long>();
      long upTo = 0;
      try (var rows = read.executeQuery()) {
        while (rows.next()) {
          if (rows.getInt(1) == HandedRow.BUNDLE) {
            messages.add(rows.getLong(2));
          } else if (rows.getInt(1) == HandedRow.KNOWN) {
            upTo = rows.getLong(2);
          }
        }
      }
      return new Read(messages, upTo);
    }
  }

  @TestInRealTime
  void whatBecomesTooOldInMemoryIsNotHandedOut() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");
    reader.send(queue, List.of(Message.of(B, Payload.text("old")).withTtl(Duration.ofMillis(150))));
    assertThat(held.receive(1, Duration.ZERO)).as("a round has read it").isEmpty();
    await()
        .atMost(SOON)
        .until(
            () ->
                count(
                        """
                        SELECT count(*) FROM keeper.waiting_message m JOIN keeper.queue k ON k.id = m.queue
                         WHERE k.name = ? AND m.expires_at <= clock_timestamp()
                        """)
                    == 1);

    assertThat(reader.sessions(queue).acceptNext(OTHER, Duration.ZERO))
        .isInstanceOf(AcceptResult.NoSession.class);
    await()
        .atMost(SOON)
        .until(
            () ->
                count(
                        """
                        SELECT count(*) FROM keeper.dead_letter d JOIN keeper.queue k ON k.id = d.queue
                         WHERE k.name = ? AND d.reason = 'expired'
                        """)
                    == 1);
    held.close();
  }

  @TestInRealTime
  void aMessageForLaterWaitsInItsLane() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    var delivery = held.receive(1, SOON).get(0);
    reader.send(
        queue,
        List.of(
            Message.of(A, Payload.text("later"))
                .notBefore(java.time.Instant.now().plusSeconds(60))));
    complete(held, delivery.sequence());

    assertThat(held.receive(1, Duration.ofMillis(100))).isEmpty();
    held.close();
    await().atMost(SOON).until(() -> lanes() == 1);
    assertThat(reader.sessions(queue).acceptNext(ME, Duration.ZERO))
        .isInstanceOf(AcceptResult.NoSession.class);
  }
}
