package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * A message of a session in memory that is retried at once comes again from memory. Its session
 * needs no row, and each attempt is counted once.
 */
class RetriesInMemoryTest extends ReadsInParts {
  private static final int SESSIONS = 40;
  private static final Settlement AT_ONCE = Settlement.retryAfter(Duration.ZERO, "no");

  @TestInRealTime
  void aFailedMessageComesAgainWithoutARow() throws Exception {
    sendThree();
    var held = take(reader, queue, ME);

    var first = next(held);
    assertThat(first.attempt()).isEqualTo(1);
    retry(held, first);
    var again = next(held);
    assertThat(again.payload().asText()).isEqualTo("1");
    assertThat(again.attempt()).isEqualTo(2);
    assertThat(lanes()).isZero();
    complete(held, again.sequence());

    var behind = next(held);
    assertThat(behind.payload().asText()).isEqualTo("2");
    assertThat(behind.attempt()).isEqualTo(1);
    held.close();
  }

  @TestInRealTime
  void deliveriesBehindAFailedOneComeAgainUncounted() throws Exception {
    sendThree();
    var held = take(reader, queue, ME);
    var batch = held.receive(3, SOON);
    assertThat(batch).hasSize(3);

    settle(held, batch.get(0), AT_ONCE).toCompletableFuture().get();

    var again = held.receive(3, SOON);
    assertThat(again).extracting(d -> d.payload().asText()).containsExactly("1", "2", "3");
    assertThat(again).extracting(Delivery::attempt).containsExactly(2, 1, 1);
    for (var delivery : again) {
      complete(held, delivery.sequence());
    }
    held.close();
    assertThat(reader.stats(queue).depth()).isZero();
    assertThat(lanes()).isZero();
  }

  @TestInRealTime
  void aMessageWithoutAttemptsBecomesADeadLetter() throws Exception {
    allowAttempts(3);
    sendThree();
    var held = take(reader, queue, ME);
    for (int attempt = 1; attempt <= 3; attempt++) {
      var delivery = next(held);
      assertThat(delivery.attempt()).isEqualTo(attempt);
      retry(held, delivery);
    }

    assertThat(next(held).payload().asText()).isEqualTo("2");
    held.close();
    assertDeadAfter(3);
  }

  /** The row comes with a poll, so the owner must not have given the session back before. */
  @TestInRealTime
  void aLastAttemptCountsWhoseOwnerGivesTheSessionBackAtOnce() throws Exception {
    allowAttempts(1);
    sendThree();
    var held = take(reader, queue, ME);
    var sent = settle(held, next(held), AT_ONCE);
    held.close();
    sent.toCompletableFuture().get();

    assertDeadAfter(1);
    var again = take(reader, queue, ME);
    assertThat(next(again).payload().asText()).isEqualTo("2");
    again.close();
  }

  @TestInRealTime
  void aSessionThatWasGivenBackKeepsTheAttemptsOfItsFirstMessage() throws Exception {
    sendThree();
    failOnce();

    var held = take(reader, queue, ME);
    assertThat(next(held).attempt()).isEqualTo(2);
    assertThat(lanes()).isZero();
    held.close();
  }

  @TestInRealTime
  void attemptsSurviveTheirReader() throws Exception {
    sendThree();
    failOnce();
    endReader();

    var found = take(other, queue, OTHER);
    var delivery = next(found);
    assertThat(delivery.payload().asText()).isEqualTo("1");
    assertThat(delivery.attempt()).isEqualTo(2);
    assertThat(failed()).as("the row has them now").isZero();
    found.close();
  }

  /** Sessions without an owner get no rows then: the next readers read their batches again. */
  @TestInRealTime
  void readersThatShareTheBucketsLaterKnowThem() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      send(ofHalf(i % 2 == 0, i / 2), "1");
    }
    for (int i = 0; i < SESSIONS; i++) {
      var held = take(reader, queue, ME);
      retry(held, next(held));
      held.close();
    }
    assertThat(failed()).isEqualTo(SESSIONS);
    share();
    assertThat(failed()).as("sessions without a row").isPositive();

    var attempts = new ArrayList<Integer>();
    while (attempts.size() < SESSIONS) {
      for (var provider : List.of(reader, second)) {
        if (provider.sessions(queue).acceptNext(ME, Duration.ofMillis(50))
            instanceof AcceptResult.Accepted accepted) {
          var delivery = next(accepted.session());
          attempts.add(delivery.attempt());
          complete(accepted.session(), delivery.sequence());
          accepted.session().close();
        }
      }
    }
    assertThat(attempts).containsOnly(2);
  }

  @TestInRealTime
  void aReaderThatHasEndedCountsNothing() throws Exception {
    sendThree();
    var held = take(reader, queue, ME);
    var delivery = next(held);
    endReader();

    assertThatThrownBy(() -> settle(held, delivery, AT_ONCE).toCompletableFuture().get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(KeeperException.LockLost.class);
    assertThat(failed()).isZero();
    held.close();
  }

  @TestInRealTime
  void theInspectorShowsThem() throws Exception {
    sendThree();
    failOnce();
    assertThat(shown().attempts()).isEqualTo(1);

    var held = take(reader, queue, ME);
    complete(held, next(held).sequence());
    held.close();
    assertThat(shown().attempts()).as("of the next message").isZero();
  }

  @TestInRealTime
  void housekeepingDeletesFailuresOfMessagesThatAreGone() throws Exception {
    sendThree();
    failOnce();
    makeOld();
    database.number("SELECT keeper.keep_house(-1)::int + 0 * length(?)", queue);
    assertThat(failed()).as("of a message that waits").isEqualTo(1);

    var held = take(reader, queue, ME);
    for (int i = 0; i < 3; i++) {
      complete(held, next(held).sequence());
    }
    held.close();
    await().atMost(SOON).until(() -> database.count("bundle", queue) == 0);
    database.number("SELECT keeper.keep_house(-1)::int + 0 * length(?)", queue);
    assertThat(failed()).isZero();
  }

  private void sendThree() {
    send(A, "1");
    send(A, "2");
    send(A, "3");
  }

  private void allowAttempts(int most) {
    reader.declare(
        queue,
        QueueSettings.ordered().withLockDuration(Duration.ofSeconds(3)).withMaxDeliveryCount(most));
  }

  private void failOnce() throws Exception {
    var held = take(reader, queue, ME);
    retry(held, next(held));
    held.close();
    assertThat(lanes()).isZero();
    assertThat(failed()).isEqualTo(1);
  }

  private static Delivery next(HeldSession held) throws InterruptedException {
    return held.receive(1, SOON).get(0);
  }

  private static void retry(HeldSession held, Delivery delivery) throws Exception {
    settle(held, delivery, AT_ONCE).toCompletableFuture().get();
  }

  private static CompletionStage<Void> settle(
      HeldSession held, Delivery delivery, Settlement settlement) {
    return held.settle(List.of(new Settled(delivery.sequence(), settlement)));
  }

  private void assertDeadAfter(int attempts) {
    assertThat(reader.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.message().payload().asText()).isEqualTo("1");
              assertThat(letter.attempts()).isEqualTo(attempts);
            });
  }

  private SessionView shown() {
    return reader.inspect(queue, Optional.empty(), Page.Request.first(10)).items().get(0);
  }

  private void makeOld() {
    count(
        """
        WITH old AS (UPDATE keeper.failed_head f SET failed_at = f.failed_at - interval '1 minute' FROM keeper.queue k
                      WHERE k.id = f.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM old
        """);
  }

  private long failed() {
    return database.count("failed_head", queue);
  }
}
