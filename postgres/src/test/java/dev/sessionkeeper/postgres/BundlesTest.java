package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.OperableSessions.Act;
import dev.sessionkeeper.spi.SessionView;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that are stored together in one row, and every way in which they are unpacked. */
class BundlesTest {
  private static final Owner ME = Owner.of("me");
  private static final Owner OTHER = Owner.of("other");
  private static final SessionId A = SessionId.of("a");
  private static final SessionId B = SessionId.of("b");
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final AtomicInteger queues = new AtomicInteger();

  private static TestDatabase database;

  private final QueueName queue = QueueName.of("bundles-" + queues.incrementAndGet());
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
    var options = PostgresOptions.ofDefaults();
    reader = PostgresQueueProvider.create(database.pool(), options.withCarryFrom(0));
    other =
        PostgresQueueProvider.create(database.pool(), options.withCarryFrom(PostgresOptions.NEVER));
    reader.declare(queue, QueueSettings.ordered().withLockDuration(Duration.ofSeconds(3)));
  }

  @AfterEach
  void close() {
    other.close();
    reader.close();
  }

  private static Message message(SessionId session, String text) {
    return Message.of(session, Payload.text(text));
  }

  private static List<Message> alternating(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> message(i % 2 == 0 ? A : B, String.valueOf(i)))
        .toList();
  }

  private HeldSession take(PostgresQueueProvider provider, Owner owner)
      throws InterruptedException {
    return ((AcceptResult.Accepted) provider.sessions(queue).acceptNext(owner, SOON)).session();
  }

  private HeldSession accept(PostgresQueueProvider provider, SessionId session)
      throws InterruptedException {
    return ((AcceptResult.Accepted) provider.sessions(queue).accept(session, OTHER, SOON))
        .session();
  }

  private static void settle(HeldSession held, long sequence, Settlement settlement) {
    held.settle(List.of(new Settled(sequence, settlement))).toCompletableFuture().join();
  }

  /** Completes the next messages, and returns their texts. */
  private static List<String> work(HeldSession held, int count) throws InterruptedException {
    var texts = new ArrayList<String>();
    while (texts.size() < count) {
      var batch = held.receive(1, SOON);
      if (batch.isEmpty()) {
        return texts;
      }
      texts.add(batch.get(0).payload().asText());
      settle(held, batch.get(0).sequence(), Settlement.complete());
    }
    return texts;
  }

  /** Returns all remaining messages by session, in the order of delivery. */
  private Map<SessionId, List<String>> drain(PostgresQueueProvider provider)
      throws InterruptedException {
    var all = new HashMap<SessionId, List<String>>();
    while (provider.stats(queue).depth() > 0) {
      try (var held = take(provider, OTHER)) {
        var texts = all.computeIfAbsent(held.id(), id -> new ArrayList<>());
        for (var batch = held.receive(100, Duration.ZERO);
            !batch.isEmpty();
            batch = held.receive(100, Duration.ZERO)) {
          var settled =
              batch.stream().map(d -> new Settled(d.sequence(), Settlement.complete())).toList();
          batch.forEach(d -> texts.add(d.payload().asText()));
          held.settle(settled).toCompletableFuture().join();
        }
      }
    }
    return all;
  }

  private static List<String> texts(int from, int below) {
    return IntStream.range(from, below)
        .filter(i -> i % 2 == from % 2)
        .mapToObj(String::valueOf)
        .toList();
  }

  private long count(String table) {
    return database.count(table, queue);
  }

  private void killReader() {
    database.number(
        """
        WITH dead AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'dead', until = clock_timestamp()
                        FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM dead
        """,
        queue);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 128, 129})
  void aBundleGoesWithItsLastMessage(int size) throws Exception {
    reader.send(queue, alternating(size));
    assertThat(count("bundle")).isEqualTo((size + 63) / 64);
    assertThat(count("message")).isZero();

    try (var held = take(reader, ME)) {
      assertThat(work(held, (size + 1) / 2)).isEqualTo(texts(0, size));
    }
    assertThat(count("waiting_message")).isEqualTo(size / 2);
    if (size > 1) {
      try (var held = take(reader, ME)) {
        assertThat(work(held, size / 2)).isEqualTo(texts(1, size));
      }
    }
    assertThat(count("bundle")).isZero();
    assertThat(count("message")).as("none became a row").isZero();
    assertThat(reader.stats(queue).depth()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 64, 200})
  void aProcessThatDoesNotReadAloneUntiesThem(int size) throws Exception {
    other.send(queue, alternating(size));
    var all = drain(other);
    assertThat(all.get(A)).isEqualTo(texts(0, size));
    assertThat(all.get(B)).isEqualTo(texts(1, size));
    assertThat(count("bundle")).isZero();
    assertThat(count("lane")).isZero();
  }

  @TestInRealTime
  void whatADeadReaderCompletedDoesNotComeAgain() throws Exception {
    reader.send(queue, alternating(100));
    var held = take(reader, ME);
    assertThat(work(held, 20)).hasSize(20);
    assertThat(count("bundle")).isEqualTo(2);
    killReader();

    var all = drain(other);
    assertThat(all.get(A)).isEqualTo(texts(40, 100));
    assertThat(all.get(B)).isEqualTo(texts(1, 100));
    assertThat(other.stats(queue).depth()).isZero();
    assertThat(count("bundle")).isZero();
  }

  /** Transaction ids that were lost in the crash are used again. */
  @TestInRealTime
  void aReaderBeginsAnewAfterTheDatabaseCrashed() throws Exception {
    reader.send(queue, alternating(4));
    var held = take(reader, ME);
    assertThat(work(held, 1)).containsExactly("0");
    database.number(
        """
        WITH lost AS (DELETE FROM keeper.reading r USING keeper.queue k WHERE k.id = r.queue AND k.name = ? RETURNING 1)
        SELECT count(*) FROM lost
        """,
        queue);
    assertThat(drain(reader)).isEqualTo(Map.of(A, List.of("2"), B, List.of("1", "3")));
  }

  @Test
  void aMessageThatNobodyCouldReadIsNotStored() {
    var endless = Duration.of(Long.MAX_VALUE, ChronoUnit.MICROS);
    assertThatThrownBy(() -> reader.send(queue, List.of(message(A, "x").withTtl(endless))))
        .isInstanceOf(KeeperException.Rejected.class);
    assertThat(count("bundle")).isZero();
  }

  /** S-10: a backlog of other sessions must not hide the message of a held session. */
  @TestInRealTime
  void whoHoldsASessionGetsItsMessageFromBehindAPile() throws Exception {
    other.send(queue, List.of(message(A, "first")));
    try (var held = accept(other, A)) {
      assertThat(work(held, 1)).containsExactly("first");
      for (int i = 0; i < 20; i++) {
        other.send(
            queue,
            IntStream.range(0, 1000).mapToObj(n -> message(SessionId.of("s" + n), "x")).toList());
      }
      other.send(queue, List.of(message(A, "second")));
      assertThat(held.receive(1, Duration.ZERO))
          .singleElement()
          .satisfies(next -> assertThat(next.payload().asText()).isEqualTo("second"));
      assertThat(count("bundle")).isPositive();
    }
  }

  @TestInRealTime
  void aSessionThatNeedsALaneLeavesItsBundleAloneAndTheOthersStay() throws Exception {
    reader.send(queue, alternating(10));
    try (var held = take(reader, ME)) {
      var first = held.receive(1, SOON).get(0);
      settle(held, first.sequence(), Settlement.retryAfter(Duration.ofMillis(1)));
      assertThat(count("message")).as("only its own became rows").isEqualTo(5);
      assertThat(count("bundle")).isEqualTo(1);
      reader.send(queue, alternating(10));

      var again = held.receive(1, SOON).get(0);
      assertThat(again.attempt()).isEqualTo(2);
      settle(held, again.sequence(), Settlement.complete());
      assertThat(work(held, 9)).containsExactly("2", "4", "6", "8", "0", "2", "4", "6", "8");
    }
    assertThat(drain(reader))
        .isEqualTo(Map.of(B, List.of("1", "3", "5", "7", "9", "1", "3", "5", "7", "9")));
    assertThat(count("bundle")).isZero();
  }

  @TestInRealTime
  void anotherProcessGetsTheRestOfThem() throws Exception {
    reader.send(queue, alternating(50));
    var held = take(reader, ME);
    assertThat(work(held, 5)).isEqualTo(texts(0, 10));

    try (var taken = take(other, OTHER)) {
      assertThat(taken.id()).isEqualTo(B);
      assertThat(work(taken, 25)).isEqualTo(texts(1, 50));
    }
    assertThat(work(held, 20)).isEqualTo(texts(10, 50));
    held.close();
    assertThat(count("bundle")).isZero();
    assertThat(other.stats(queue).depth()).isZero();
  }

  @TestInRealTime
  void aReplayedMessageThatCameFromABundleThatIsStillThereIsARow() throws Exception {
    reader.send(queue, alternating(6));
    try (var held = take(reader, ME)) {
      settle(held, held.receive(1, SOON).get(0).sequence(), Settlement.deadLetter("wrong"));
      assertThat(work(held, 2)).containsExactly("2", "4");
    }
    assertThat(count("bundle")).as("of the other session").isEqualTo(1);
    var letter = reader.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items();
    reader.replay(queue, new DeadLetterQueues.Selection.All());
    assertThat(letter).hasSize(1);
    assertThat(drain(reader)).isEqualTo(Map.of(A, List.of("0"), B, List.of("1", "3", "5")));
    assertThat(reader.stats(queue).depth()).isZero();
  }

  @TestInRealTime
  void aPileIsUntiedPageByPageAndEverySessionCanBeTakenByName() throws Exception {
    int size = 24_000;
    for (int from = 0; from < size; from += 1000) {
      int first = from;
      other.send(
          queue,
          IntStream.range(from, from + 1000)
              .mapToObj(i -> message(SessionId.of("s" + i % 12_000), String.valueOf(first)))
              .toList());
    }
    try (var held = accept(other, SessionId.of("s11999"))) {
      assertThat(work(held, 2)).containsExactly("11000", "23000");
    }
    assertThat(other.act(queue, SessionId.of("s11998"), Act.PARK, "look at it")).isEqualTo(1);
    assertThat(count("bundle")).as("the pile has not been untied for it").isPositive();

    var shown = new ArrayList<SessionView>();
    var page = other.inspect(queue, Optional.empty(), Page.Request.first(1000));
    shown.addAll(page.items());
    while (page.next().isPresent()) {
      page = other.inspect(queue, Optional.empty(), new Page.Request(1000, page.next()));
      shown.addAll(page.items());
    }
    assertThat(shown).hasSize(11_999);
    assertThat(shown).allMatch(view -> view.backlog() == 2);
    assertThat(other.stats(queue).depth()).isEqualTo(size - 2);
    assertThat(other.act(queue, SessionId.of("s11998"), Act.DEAD_LETTER_ALL, "enough"))
        .isEqualTo(2);
    assertThat(other.stats(queue).depth()).isEqualTo(size - 4);
  }

  @TestInRealTime
  void timesToLiveAndEarliestTimesHoldForEachMessage() throws Exception {
    var soon = Instant.now().plusMillis(700);
    reader.send(
        queue,
        List.of(
            message(A, "old").withTtl(Duration.ofMillis(100)),
            message(A, "young"),
            message(B, "later").notBefore(soon),
            message(SessionId.of("c"), "now").withProperty("k", "v")));
    Thread.sleep(150);

    var all = new HashMap<SessionId, String>();
    for (int i = 0; i < 3; i++) {
      try (var held = take(reader, ME)) {
        var delivery = held.receive(1, SOON).get(0);
        all.put(held.id(), delivery.payload().asText());
        if (held.id().equals(B)) {
          assertThat(Instant.now()).isAfterOrEqualTo(soon.minusMillis(50));
        }
        if (held.id().equals(SessionId.of("c"))) {
          assertThat(delivery.message().properties()).containsEntry("k", "v");
        }
        settle(held, delivery.sequence(), Settlement.complete());
      }
    }
    assertThat(all).isEqualTo(Map.of(A, "young", B, "later", SessionId.of("c"), "now"));
    var letters = reader.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items();
    assertThat(letters).singleElement().satisfies(l -> assertThat(l.reason()).isEqualTo("expired"));
    assertThat(reader.stats(queue).depth()).isZero();
  }
}
