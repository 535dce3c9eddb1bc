package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.BeforeEach;

/** Tests that only the attempts of open deliveries count when a reader dies. */
class AttemptsAfterCrashTest extends ReadsAlone {
  private static final int SESSIONS = 100;
  private static final Duration TAKE_OVER = Duration.ofSeconds(10);

  @BeforeEach
  void allowOneAttempt() {
    reader.declare(
        queue,
        QueueSettings.ordered().withLockDuration(Duration.ofSeconds(3)).withMaxDeliveryCount(1));
  }

  @TestInRealTime
  void whatIsSentAfterTheDeathOfAReaderIsNotCounted() throws Exception {
    send(A, "0");
    var held = take(reader, queue, ME);
    complete(held, held.receive(1, SOON).get(0).sequence());
    held.close();
    die();

    var messages = new ArrayList<Message>();
    for (int i = 0; i < SESSIONS; i++) {
      messages.add(Message.of(SessionId.of("new-" + i), Payload.text("1")));
    }
    other.send(queue, messages);
    assertFirstAttempts(SESSIONS);
  }

  @TestInRealTime
  void whatADeadReaderHadInMemoryOnlyIsNotCounted() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      send(SessionId.of("old-" + i), "1");
    }
    var held = take(reader, queue, ME);
    held.receive(1, SOON);
    assertThat(reader.stats(queue).readySessions()).isEqualTo(SESSIONS - 1);
    die();

    assertFirstAttempts(SESSIONS);
  }

  @TestInRealTime
  void whatADeadReaderHadInHandForLongIsCounted() throws Exception {
    send(A, "1");
    var held = take(reader, queue, ME);
    held.receive(1, SOON);
    await().atMost(SOON).until(() -> lanes() == 1);
    die();

    await().atMost(TAKE_OVER).until(() -> reader.stats(queue).deadLetters() == 1);
  }

  /**
   * Otherwise the message would come again for ever: each process would cache its session, and die
   * before the session has a row.
   */
  @TestInRealTime
  void aMessageThatEndsItsProcessAtOnceIsCountedFromItsSecondTimeOn() throws Exception {
    send(A, "deadly");
    take(reader, queue, ME).receive(1, SOON);
    die();

    var options = PostgresOptions.ofDefaults().withCarryFrom(0);
    try (var next = PostgresQueueProvider.create(database.pool(), options)) {
      var again = accept(next);
      assertThat(again.receive(1, SOON).get(0).attempt()).isEqualTo(1);
      assertThat(lanes()).isEqualTo(1);
      // This process dies too: it neither renews nor settles.
      await().atMost(TAKE_OVER).until(() -> other.stats(queue).deadLetters() == 1);
    }
  }

  /** Ends the process, whose lease has not expired. */
  private void die() {
    count(
        """
        WITH dead AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'dead' FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM dead
        """);
  }

  private void assertFirstAttempts(int sessions) throws Exception {
    var attempts = new ArrayList<Integer>();
    for (int i = 0; i < sessions; i++) {
      try (var held = accept(other)) {
        var delivery = held.receive(1, SOON).get(0);
        attempts.add(delivery.attempt());
        complete(held, delivery.sequence());
      }
    }
    assertThat(attempts).hasSize(sessions).containsOnly(1);
    assertThat(other.stats(queue).deadLetters()).isZero();
    assertThat(other.stats(queue).depth()).isZero();
  }

  private HeldSession accept(PostgresQueueProvider provider) throws InterruptedException {
    var accepted = provider.sessions(queue).acceptNext(OTHER, TAKE_OVER);
    assertThat(accepted).isInstanceOf(AcceptResult.Accepted.class);
    return ((AcceptResult.Accepted) accepted).session();
  }
}
