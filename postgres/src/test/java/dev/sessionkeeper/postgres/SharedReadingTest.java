package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.Buckets;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.RemovableQueues.Part;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two processes are readers of one queue, each of a share of its sessions. */
class SharedReadingTest extends ReadsInParts {
  @Test
  void javaAndTheDatabaseFindTheSameBucket() {
    var hostile = List.of("a", "ä", "😀", "A".repeat(128), "'; DROP", "\\", "%_", "日本", "a b");
    for (var name : hostile) {
      var inDatabase =
          count("SELECT keeper.bucket_of($s$" + name + "$s$) FROM keeper.queue k WHERE k.name = ?");
      assertThat(Buckets.of(SessionId.of(name))).as(name).isEqualTo((int) inDatabase);
    }
  }

  @TestInRealTime
  void eachTakesWhatIsOfItsPartWithoutALane() throws Exception {
    share();
    var messages = new ArrayList<Message>();
    for (int i = 0; i < 40; i++) {
      messages.add(Message.of(SessionId.of("s" + i), Payload.text("1")));
    }
    second.send(queue, messages);
    assertThat(batches()).as("one for each reader").isEqualTo(2);

    var taken = new HashSet<SessionId>();
    var halves = new HashSet<Boolean>();
    for (int i = 0; i < 10; i++) {
      for (var provider : List.of(reader, second)) {
        var held = take(provider, queue, ME);
        assertThat(taken.add(held.id())).isTrue();
        halves.add(Buckets.have(LOWER, held.id()) == (provider == reader));
        complete(held, held.receive(1, SOON).get(0).sequence());
        held.close();
      }
    }
    assertThat(halves).as("one has the lower half and the other one the upper").hasSize(1);
    assertThat(lanes()).isZero();
    assertThat(reader.stats(queue).depth()).isEqualTo(20);
  }

  /**
   * The batch was stored when there was one reader. Both find their messages in it, and complete
   * them.
   */
  @TestInRealTime
  void aBundleOfBothIsCompletedByBoth() throws Exception {
    var messages = new ArrayList<Message>();
    for (int i = 0; i < 40; i++) {
      messages.add(Message.of(SessionId.of("s" + i), Payload.text("1")));
    }
    other.send(queue, messages);
    assertThat(batches()).isEqualTo(1);
    share();
    var taken = new HashSet<SessionId>();
    while (taken.size() < 40) {
      for (var provider : List.of(reader, second)) {
        if (provider.sessions(queue).acceptNext(ME, Duration.ofMillis(20))
            instanceof AcceptResult.Accepted accepted) {
          var held = accepted.session();
          taken.add(held.id());
          complete(held, held.receive(1, SOON).get(0).sequence());
          held.close();
        }
      }
    }
    assertThat(batches()).isZero();
    assertThat(database.count("completion", queue)).isZero();
    assertThat(reader.stats(queue).depth()).isZero();
  }

  /** The session is held while its bucket moves to another process and back. */
  @TestInRealTime
  void aHeldSessionStaysWithItsOwnerWhenItsBucketMoves() throws Exception {
    var low = ofHalf(true, 0);
    var high = ofHalf(false, 0);
    send(low, "1");
    send(high, "1");
    var one = take(reader, queue, ME);
    var two = take(reader, queue, ME);
    long first = one.receive(1, SOON).get(0).sequence();
    long another = two.receive(1, SOON).get(0).sequence();
    share();
    send(low, "2");
    send(high, "2");
    complete(one, first);
    complete(two, another);
    assertThat(receive(one)).isEqualTo("2");
    assertThat(receive(two)).isEqualTo("2");
    one.close();
    two.close();
    second.close();
    await().atMost(SOON).untilAsserted(() -> assertThat(owned()).isEqualTo(Buckets.ALL));
    for (int i = 0; i < 2; i++) {
      var again = take(reader, queue, ME);
      var delivery = again.receive(1, SOON).get(0);
      assertThat(delivery.payload().asText()).isEqualTo("2");
      complete(again, delivery.sequence());
      again.close();
    }
  }

  @TestInRealTime
  void bothAreAskedForSingleSessionsAndReadOn() throws Exception {
    share();
    var low = ofHalf(true, 1);
    var high = ofHalf(false, 1);
    second.send(queue, List.of(Message.of(low, Payload.text("low"))));
    second.send(queue, List.of(Message.of(high, Payload.text("high"))));
    long epochs = epochs();
    for (var provider : List.of(other, reader, second)) {
      for (var id : List.of(low, high)) {
        var named = provider.sessions(queue).accept(id, OTHER, Duration.ZERO);
        assertThat(named).isInstanceOf(AcceptResult.Accepted.class);
        ((AcceptResult.Accepted) named).session().close();
        assertThat(provider.act(queue, id, Act.PAUSE, "look")).isEqualTo(1);
        assertThat(provider.act(queue, id, Act.RESUME, "look")).isEqualTo(1);
      }
    }
    assertThat(epochs()).isEqualTo(epochs);
  }

  @TestInRealTime
  void whatADeadReaderHadInItsPartIsFoundByTheOther() throws Exception {
    share();
    var messages = new ArrayList<Message>();
    for (int i = 0; i < 20; i++) {
      messages.add(Message.of(SessionId.of("s" + i), Payload.text("1")));
    }
    second.send(queue, messages);
    var held = take(second, queue, OTHER);
    long open = held.receive(1, SOON).get(0).sequence();
    count(
        """
        WITH dead AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'dead', until = clock_timestamp()
                        FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ?
                         AND r.owns <> 0 AND keeper.is_of('%s', r.owns) RETURNING 1) SELECT count(*) FROM dead
        """
            .formatted(held.id()));

    var taken = new HashSet<SessionId>();
    await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () -> {
              if (reader.sessions(queue).acceptNext(ME, Duration.ofMillis(50))
                  instanceof AcceptResult.Accepted accepted) {
                taken.add(accepted.session().id());
                assertThat(accepted.session().receive(1, SOON).get(0).attempt()).isEqualTo(1);
              }
              return taken.size() == 20;
            });
    assertThatThrownBy(() -> complete(held, open))
        .hasCauseInstanceOf(KeeperException.LockLost.class);
  }

  @TestInRealTime
  void aQueueThatIsReadByTwoIsEmptied() throws Exception {
    share();
    for (int i = 0; i < 20; i++) {
      send(SessionId.of("s" + i), "1");
    }
    assertThat(other.purge(queue, Part.MESSAGES)).isEqualTo(20);
    assertThat(batches()).isZero();
  }
}
