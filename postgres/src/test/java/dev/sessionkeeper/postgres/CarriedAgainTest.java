package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.List;

/** Sessions that needed a row, and need none any more although they have messages. */
class CarriedAgainTest extends ReadsAlone {
  /** Rows are checked from time to time, not at every poll. */
  private static final Duration SHORTLY = Duration.ofMillis(50);

  /** Only a row can wait for the time of a retry. */
  private static final Duration LATER = Duration.ofMillis(1);

  /** Otherwise a session that always has messages would never be cached again. */
  @TestInRealTime
  void aSessionWithWorkIsCarriedAgainWhenNobodyHoldsIt() throws Exception {
    var held = leaveWithALane();
    held.close();
    assertThat(lanes()).isEqualTo(1);
    Thread.sleep(SHORTLY);

    var again = take(reader, queue, ME);
    assertThat(lanes()).isZero();
    assertThat(again.lease().epoch()).isGreaterThan(held.lease().epoch());
    send(A, "4");
    for (var body : List.of("2", "3", "4")) {
      var delivery = again.receive(1, SOON).get(0);
      assertThat(delivery.payload().asText()).isEqualTo(body);
      assertThat(delivery.attempt()).isEqualTo(1);
      complete(again, delivery.sequence());
    }
    again.close();
    assertThat(lanes()).isZero();
    assertThat(reader.stats(queue).depth()).isZero();
  }

  @TestInRealTime
  void whatIsCarriedAgainIsFoundAfterACrash() throws Exception {
    leaveWithALane().close();
    Thread.sleep(SHORTLY);
    var again = take(reader, queue, ME);
    assertThat(lanes()).isZero();
    endReader();

    var found = take(other, queue, OTHER);
    assertThat(found.id()).isEqualTo(again.id());
    var batch = found.receive(2, SOON);
    assertThat(batch).extracting(d -> d.payload().asText()).containsExactly("2", "3");
    found.close();
  }

  /** The row counts its attempts, and may delay it. */
  @TestInRealTime
  void aSessionWhoseHeadWasTriedKeepsItsLane() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    retry(held);
    held.close();
    Thread.sleep(SHORTLY);

    var again = take(reader, queue, ME);
    assertThat(lanes()).isEqualTo(1);
    assertThat(again.receive(1, SOON).get(0).attempt()).isEqualTo(2);
    again.close();
  }

  /** The reader's snapshot only finds newer messages; the others are found through the row. */
  @TestInRealTime
  void aSessionWithWorkFromBeforeTheReadingKeepsItsLane() throws Exception {
    send(A, "1");
    take(other, queue, OTHER).close();
    assertThat(lanes()).isEqualTo(1);

    send(B, "1");
    var first = take(reader, queue, ME);
    var second = take(reader, queue, ME);
    assertThat(readers()).isEqualTo(1);
    first.close();
    second.close();
    Thread.sleep(SHORTLY);
    var third = take(reader, queue, ME);
    var fourth = take(reader, queue, ME);
    assertThat(
            count(
                """
                SELECT count(*) FROM keeper.lane l JOIN keeper.queue k ON k.id = l.queue
                 WHERE k.name = ? AND l.session = 'a'
                """))
        .isEqualTo(1);
    third.close();
    fourth.close();
    endReader();

    var found = List.of(take(other, queue, OTHER), take(other, queue, OTHER));
    assertThat(found).extracting(HeldSession::id).containsExactlyInAnyOrder(A, B);
    for (var session : found) {
      session.close();
    }
  }

  /** Creates a session with three messages, of which the first was tried twice. */
  private HeldSession leaveWithALane() throws Exception {
    send(A, "1");
    send(A, "2");
    send(A, "3");
    var held = take(reader, queue, ME);
    retry(held);
    complete(held, held.receive(1, SOON).get(0).sequence());
    assertThat(lanes()).isEqualTo(1);
    return held;
  }

  private static void retry(HeldSession held) throws Exception {
    var first = held.receive(1, SOON).get(0);
    held.settle(List.of(new Settled(first.sequence(), Settlement.retryAfter(LATER, "no"))))
        .toCompletableFuture()
        .get();
  }
}
