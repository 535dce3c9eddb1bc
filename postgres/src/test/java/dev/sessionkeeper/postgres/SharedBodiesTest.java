package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Page;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A shared payload belongs to each of its messages alone, as far as receivers see. */
@Execution(ExecutionMode.SAME_THREAD)
class SharedBodiesTest {
  private static final SessionId SESSION = SessionId.of("s");
  private static final Payload BODY = Payload.json("{\"long\":\"" + "x".repeat(5000) + "\"}");
  private static final Settlement DEAD = Settlement.deadLetter("a test", "");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static TestDatabase postgres;
  private static PostgresQueueProvider queues;
  private static Database database;

  private final UUID body = UUID.randomUUID();
  private final QueueName ordered = QueueName.of("ordered-" + body);
  private final QueueName loose = QueueName.of("loose-" + body);

  @BeforeAll
  static void start() {
    postgres = TestDatabase.start();
    queues = PostgresQueueProvider.create(postgres.pool());
    database = Database.of(postgres.pool());
  }

  @AfterAll
  static void stop() {
    queues.close();
    postgres.close();
  }

  @BeforeEach
  void send() {
    queues.declare(ordered, QueueSettings.ordered());
    queues.declare(loose, QueueSettings.unordered());
    var first = Message.of(SESSION, BODY);
    var second = Message.of(SESSION, BODY);
    var own = Message.of(SESSION, Payload.text("its own"));
    var unordered = Message.unordered(BODY);
    var shared = new HashMap<MessageId, UUID>();
    List.of(first, second, unordered).forEach(message -> shared.put(message.id(), body));
    database.doInTransaction(
        connection -> {
          SharedBodies.keep(connection, Map.of(body, BODY.toBytes()));
          queues.send(connection, ordered, List.of(first, own, second), shared);
          queues.send(connection, loose, List.of(unordered), shared);
        });
  }

  @Test
  void receiversGetTheBody() throws Exception {
    assertThat(bodies(loose)).containsExactly(BODY);
    assertThat(inOrder()).containsExactly(BODY, Payload.text("its own"), BODY);
    assertThat(
            count(
                "SELECT count(*) FROM keeper.waiting_message WHERE octet_length(body) > 16 AND message_id"
                    + " IN (SELECT message_id FROM keeper.waiting_message WHERE form >= 4)"))
        .isZero();
  }

  @Test
  void whoNeedsItStillWhenItIsReleasedGetsACopy() throws Exception {
    database.doInTransaction(connection -> SharedBodies.release(connection, List.of(body)));
    assertThat(count("SELECT count(*) FROM keeper.shared_body WHERE id = '" + body + "'")).isZero();
    assertThat(bodies(loose)).containsExactly(BODY);
    assertThat(inOrder()).containsExactly(BODY, Payload.text("its own"), BODY);
  }

  @Test
  void aDeadLetterHasACopyOfItsOwnAndComesBackWithIt() throws Exception {
    try (var held = accept()) {
      var first = held.receive(1, PATIENCE).getFirst();
      held.settle(List.of(new HeldSession.Settled(first.sequence(), DEAD)))
          .toCompletableFuture()
          .join();
    }
    var source = queues.messages(loose);
    source
        .settle(source.receive(1, PATIENCE).getFirst().receipt(), DEAD)
        .toCompletableFuture()
        .join();
    database.doInTransaction(connection -> SharedBodies.release(connection, List.of(body)));
    for (var queue : List.of(ordered, loose)) {
      assertThat(queues.deadLetters(queue, Optional.empty(), Page.Request.first(10)).items())
          .hasSize(1)
          .allSatisfy(letter -> assertThat(letter.message().payload()).isEqualTo(BODY));
      assertThat(queues.replay(queue, new Selection.All())).isEqualTo(1);
    }
    assertThat(bodies(loose)).containsExactly(BODY);
    assertThat(inOrder()).containsExactly(BODY, Payload.text("its own"), BODY);
  }

  private List<Payload> inOrder() throws InterruptedException {
    try (var held = accept()) {
      return held.receive(10, PATIENCE).stream().map(delivery -> delivery.payload()).toList();
    }
  }

  private HeldSession accept() throws InterruptedException {
    var accepted = queues.sessions(ordered).acceptNext(Owner.of("test"), PATIENCE);
    return ((AcceptResult.Accepted) accepted).session();
  }

  private List<Payload> bodies(QueueName queue) throws InterruptedException {
    return queues.messages(queue).receive(10, PATIENCE).stream()
        .map(one -> one.delivery().payload())
        .toList();
  }

  private long count(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }
}
