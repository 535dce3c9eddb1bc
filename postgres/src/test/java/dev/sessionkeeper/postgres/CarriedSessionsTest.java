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
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.OperableSessions;
import dev.sessionkeeper.store.Notices;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/** Tests what a single reader guarantees beyond the contract. */
class CarriedSessionsTest extends ReadsAlone {

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

  /**
   * New messages arrive by themselves: a caller that asks again and again need not ask the
   * database.
   */
  @TestInRealTime
  void whatIsSentToAHeldSessionBecomesKnown() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    assertThat(receive(held)).isEqualTo("1");
    assertThat(held.receiveKnown(1, Duration.ZERO)).isEmpty();
    send(A, "2");

    var found = new ArrayList<String>();
    await()
        .atMost(SOON)
        .until(
            () -> {
              held.receiveKnown(1, Duration.ofMillis(5))
                  .forEach(delivery -> found.add(delivery.payload().asText()));
              return !found.isEmpty();
            });
    assertThat(found).containsExactly("2");
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
    held.settle(
            List.of(
                new Settled(first.sequence(), Settlement.retryAfter(Duration.ofMillis(1), "no"))))
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
    assertThat(readers()).as("the reading goes on").isEqualTo(1);
    held.close();
    others.close();
  }

  /** Until then no other process could take the messages. */
  @TestInRealTime
  void whoReadsAloneTellsOthersOfWhatItSendsOnlyWhenItEnds() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    Thread.sleep(100);
    try (var notices = Notices.over(database.pool(), database.unpooled())) {
      var tellers = new Tellers();
      notices.listen("keeper_queues", tellers);
      await().until(() -> tellers.isListening);
      send(A, "2");
      send(B, "1");
      other.send(queue, List.of(Message.of(B, Payload.text("2"))));
      await().until(() -> !tellers.nodes.isEmpty());
      Thread.sleep(50);
      assertThat(tellers.nodes).as("the other process").hasSize(1);

      assertThat(take(other, queue, OTHER).id()).isEqualTo(B);
      await().atMost(SOON).until(() -> tellers.nodes.size() == 2);
    }
    held.close();
  }

  /** Counts the nodes that have sent notifications about queues. */
  private static final class Tellers implements Notices.Ear {
    final Set<String> nodes = ConcurrentHashMap.newKeySet();
    volatile boolean isListening;

    @Override
    public void heard(String payload) {
      nodes.add(payload.split(" ", 3)[1]);
    }

    @Override
    public void everything() {
      isListening = true;
    }
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
  void whatADeadReaderHadReadIsFoundAgainAndIsNotCountedUnlessItWasInHand() throws Exception {
    send(A, "1");
    take(reader, queue, ME);
    endReader();
    send(B, "later");

    var found = take(other, queue, OTHER);
    var next = take(other, queue, OTHER);
    var ofA = found.id().equals(A) ? found : next;
    assertThat(ofA.receive(1, SOON).get(0).attempt()).isEqualTo(1);
    found.close();
    next.close();
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
  void whatBecomesTooOldBehindAHandlerIsNotHandedOut() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    var first = held.receive(1, SOON).get(0);
    reader.send(
        queue,
        List.of(
            Message.of(A, Payload.text("old")).withTtl(Duration.ofMillis(300)),
            Message.of(A, Payload.text("3"))));
    await().atMost(SOON).until(held::mayHaveMore);
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
    assertThat(lanes()).as("it is carried still").isZero();
    complete(held, first.sequence());

    assertThat(receive(held)).isEqualTo("3");
    await().atMost(SOON).until(() -> reader.stats(queue).deadLetters() == 1);
    held.close();
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

  /**
   * Newer messages are in memory when the older one is replayed. Repeated, because it is a race.
   */
  @TestInRealTime
  void aReplayedMessageComesBeforeNewerOnesThatAreCarried() throws Exception {
    for (int i = 0; i < 20; i++) {
      var session = SessionId.of("a-" + i);
      send(session, "1");
      bury(take(reader, queue, ME));
      send(B, "1");
      send(session, "2");
      var first = take(reader, queue, ME);
      assertThat(first.id()).isEqualTo(B);
      complete(first, first.receive(1, SOON).get(0).sequence());
      first.close();
      assertThat(lanes()).isZero();

      assertThat(reader.replay(queue, new Selection.All())).isEqualTo(1);
      var again = take(reader, queue, ME);
      var found = again.receiveKnown(2, Duration.ZERO);
      assertThat(found).extracting(d -> d.payload().asText()).containsExactly("1", "2");
      for (var delivery : found) {
        complete(again, delivery.sequence());
      }
      again.close();
    }
  }

  /** Otherwise the reader would deliver the newer messages from its memory first. */
  @TestInRealTime
  void aReplayElsewhereGivesTheSessionItsLaneAndTheReadingGoesOn() throws Exception {
    send(A, "1");
    bury(take(reader, queue, ME));
    send(B, "1");
    send(A, "2");
    var first = take(reader, queue, ME);
    assertThat(readers()).isEqualTo(1);

    assertThat(other.replay(queue, new Selection.All())).isEqualTo(1);
    assertThat(readers()).isEqualTo(1);
    var again = take(reader, queue, ME);
    assertThat(again.receiveKnown(2, Duration.ZERO))
        .extracting(d -> d.payload().asText())
        .containsExactly("1", "2");
    first.close();
    again.close();
  }

  private static void bury(HeldSession held) throws Exception {
    var head = held.receive(1, SOON).get(0);
    held.settle(List.of(new Settled(head.sequence(), Settlement.deadLetter("no"))))
        .toCompletableFuture()
        .get();
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
