package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Q-03, however an id is remembered: in a row of its own, or with ids that were created together.
 */
class RememberedIdsTest {
  private static final SessionId A = SessionId.of("a");
  private static final AtomicInteger queues = new AtomicInteger();

  private static TestDatabase database;

  private final QueueName queue = QueueName.of("ids-" + queues.incrementAndGet());
  private PostgresQueueProvider one;
  private PostgresQueueProvider two;

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
    one = PostgresQueueProvider.create(database.pool());
    two = PostgresQueueProvider.create(database.pool());
    one.declare(queue, QueueSettings.ordered());
  }

  @AfterEach
  void close() {
    two.close();
    one.close();
  }

  private static Message made() {
    return Message.of(A, Payload.text("x"));
  }

  private SendOutcome send(PostgresQueueProvider provider, Message message) {
    return provider.send(queue, List.of(message)).get(0);
  }

  private long count(String table) {
    return database.count(table, queue);
  }

  @Test
  void idsThatWereJustMadeShareARow() {
    one.send(queue, Stream.generate(RememberedIdsTest::made).limit(100).toList());
    assertThat(count("sent")).isEqualTo(2);
    assertThat(count("duplicate")).isZero();
  }

  @Test
  void theSameMessageTwiceIsStoredOnce() {
    var message = made();
    var first = (SendOutcome.Stored) send(one, message);
    assertThat(send(one, message))
        .isEqualTo(new SendOutcome.Duplicate(message.id(), first.sequence()));
    assertThat(send(two, made().withId(message.id())))
        .isEqualTo(new SendOutcome.Duplicate(message.id(), first.sequence()));
    assertThat(one.stats(queue).depth()).isEqualTo(1);
  }

  @Test
  void knownOnesAmongNewOnesAreNamedAndTheOthersStored() {
    var known = Stream.generate(RememberedIdsTest::made).limit(3).toList();
    var given = made().withId(MessageId.of("given"));
    one.send(queue, known);
    send(one, given);
    var more = Stream.generate(RememberedIdsTest::made).limit(2).toList();
    var outcomes =
        two.send(queue, List.of(more.get(0), known.get(2), given, more.get(1), known.get(0)));
    assertThat(outcomes)
        .map(o -> o instanceof SendOutcome.Duplicate)
        .containsExactly(false, true, true, false, true);
    assertThat(one.stats(queue).depth()).isEqualTo(6);
  }

  @Test
  void manyIdsOfVeryDifferentTimesAreToldApartToo() {
    var old = new ArrayList<Message>();
    for (int i = 0; i < 100; i++) {
      old.add(
          made().withId(MessageId.of(String.format("0190%04x-%04x-7000-8000-00000000000a", i, i))));
    }
    assertThat(one.send(queue, old)).allMatch(o -> o instanceof SendOutcome.Stored);
    assertThat(two.send(queue, old)).allMatch(o -> o instanceof SendOutcome.Duplicate);
  }

  @TestInRealTime
  void anIdMayComeAgainWhenItIsForgotten() throws Exception {
    var brief = QueueName.of(queue + "-brief");
    one.declare(brief, QueueSettings.ordered().withDuplicateWindow(Duration.ofMillis(200)));
    var together = made();
    var alone = made().withId(MessageId.of("alone"));
    one.send(brief, List.of(together));
    one.send(brief, List.of(alone));
    Thread.sleep(250);
    assertThat(one.send(brief, List.of(together))).allMatch(o -> o instanceof SendOutcome.Stored);
    assertThat(one.send(brief, List.of(alone))).allMatch(o -> o instanceof SendOutcome.Stored);
    assertThat(one.send(brief, List.of(together, alone)))
        .allMatch(o -> o instanceof SendOutcome.Duplicate);
  }

  /**
   * One process created the id, the other was given it: whichever is first, one message is stored.
   */
  @Test
  void twoProcessesThatUseAnIdAtOnceStoreItOnce() throws Exception {
    int rounds = 300;
    var barrier = new CyclicBarrier(2);
    try (var threads = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < rounds; round++) {
        var messages = Stream.generate(RememberedIdsTest::made).limit(3).toList();
        var answers = new ArrayList<Future<List<SendOutcome>>>();
        for (var provider : List.of(one, two)) {
          answers.add(
              threads.submit(
                  () -> {
                    barrier.await();
                    return provider.send(queue, messages);
                  }));
        }
        long stored = 0;
        for (var answer : answers) {
          stored += answer.get().stream().filter(o -> o instanceof SendOutcome.Stored).count();
        }
        assertThat(stored).as("round " + round).isEqualTo(3);
      }
    }
    assertThat(one.stats(queue).depth()).isEqualTo(3 * rounds);
  }

  @TestInRealTime
  void anIdInAnOpenTransactionIsWaitedFor() throws Exception {
    for (boolean commits : List.of(true, false)) {
      var message = made();
      CompletableFuture<SendOutcome> answer;
      try (var connection = database.pool().getConnection()) {
        connection.setAutoCommit(false);
        one.send(connection, queue, List.of(message));
        answer = CompletableFuture.supplyAsync(() -> send(two, message));
        Thread.sleep(100);
        assertThat(answer).isNotDone();
        assertThat(send(one, made())).as("other processes do not wait").isNotNull();
        if (commits) {
          connection.commit();
        } else {
          connection.rollback();
        }
        connection.setAutoCommit(true);
      }
      assertThat(answer.get())
          .isInstanceOf(commits ? SendOutcome.Duplicate.class : SendOutcome.Stored.class);
    }
    assertThat(one.stats(queue).depth()).isEqualTo(4);
  }

  @Test
  void transactionsThatSendIdsOfOneMomentDoNotWaitForEachOther() throws Exception {
    var messages = IntStream.range(0, 4).mapToObj(i -> made()).toList();
    try (var first = database.pool().getConnection();
        var second = database.pool().getConnection()) {
      first.setAutoCommit(false);
      second.setAutoCommit(false);
      one.send(first, queue, List.of(messages.get(0)));
      one.send(second, queue, List.of(messages.get(1)));
      one.send(first, queue, List.of(messages.get(2)));
      assertThat(send(two, messages.get(3))).isInstanceOf(SendOutcome.Stored.class);
      assertThat(count("sent")).as("which was remembered as always").isEqualTo(1);
      first.commit();
      second.commit();
      first.setAutoCommit(true);
      second.setAutoCommit(true);
    }
    assertThat(one.stats(queue).depth()).isEqualTo(4);
  }
}
