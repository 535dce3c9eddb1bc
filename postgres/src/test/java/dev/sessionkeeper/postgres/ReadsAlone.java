package dev.sessionkeeper.postgres;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Two processes on one queue: one is a reader from the start, the other may become one. */
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ReadsAlone {
  static final Owner ME = Owner.of("me");
  static final Owner OTHER = Owner.of("other");
  static final SessionId A = SessionId.of("a");
  static final SessionId B = SessionId.of("b");
  static final Duration SOON = Duration.ofSeconds(5);
  private static final AtomicInteger queues = new AtomicInteger();

  TestDatabase database;
  QueueName queue;
  PostgresQueueProvider reader;
  PostgresQueueProvider other;

  @BeforeAll
  void startDatabase() {
    database = TestDatabase.start();
  }

  @AfterAll
  void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void open() {
    queue = QueueName.of("carried-" + queues.incrementAndGet());
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

  void send(SessionId session, String body) {
    reader.send(queue, List.of(Message.of(session, Payload.text(body))));
  }

  static HeldSession take(PostgresQueueProvider provider, QueueName queue, Owner owner)
      throws InterruptedException {
    return ((AcceptResult.Accepted) provider.sessions(queue).acceptNext(owner, SOON)).session();
  }

  static String receive(HeldSession held) throws InterruptedException {
    return held.receive(1, SOON).get(0).payload().asText();
  }

  static void complete(HeldSession held, long sequence) throws Exception {
    held.settle(List.of(new Settled(sequence, Settlement.complete()))).toCompletableFuture().get();
  }

  long count(String sql) {
    return database.number(sql, queue);
  }

  /** Makes the reader look dead, with an expired lease. */
  void endReader() {
    count(
        """
        WITH dead AS (UPDATE keeper.reader r SET epoch = r.epoch + 1, node = 'dead', until = clock_timestamp()
                        FROM keeper.queue k
                       WHERE k.id = r.queue AND k.name = ? RETURNING 1) SELECT count(*) FROM dead
        """);
  }

  long lanes() {
    return database.count("lane", queue);
  }

  long readers() {
    return database.count("reader", queue);
  }
}
