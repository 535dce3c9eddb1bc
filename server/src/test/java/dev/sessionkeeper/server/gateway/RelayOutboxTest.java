package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RelayOutboxTest {
  private static final QueueName GOOD = QueueName.of("good");
  private static final QueueName BAD = QueueName.of("bad");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void aTargetThatFailsHoldsUpOnlyItselfAndNothingIsSentTwice() throws Exception {
    var down = new AtomicBoolean(true);
    var sends = new ConcurrentHashMap<String, AtomicInteger>();
    var source = TestDatabase.create().source();
    try (var memory = MemoryQueueProvider.create(TimeSource.system())) {
      memory.declare(GOOD, QueueSettings.ordered());
      memory.declare(BAD, QueueSettings.ordered());
      var target = failing(memory, down, sends);
      try (var relay =
          RelayOutbox.start(PostgresQueueProvider.create(source), target, TimeSource.system())) {
        var database = Database.of(source);
        for (int i = 0; i < 10; i++) {
          int step = i;
          database.doInTransaction(
              connection -> {
                relay.send(
                    connection,
                    Map.of(
                        GOOD, List.of(message("good", step)), BAD, List.of(message("bad", step))),
                    Map.of());
              });
          relay.committed(List.of(GOOD, BAD));
        }
        await().atMost(PATIENCE).until(() -> memory.stats(GOOD).depth() == 10);
        assertThat(memory.stats(BAD).depth()).isZero();
        down.set(false);
        await().atMost(PATIENCE).until(() -> memory.stats(BAD).depth() == 10);
      }
      assertThat(sends.values()).allSatisfy(count -> assertThat(count).hasValue(1));
      assertThat(texts(memory, GOOD))
          .containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
      assertThat(texts(memory, BAD))
          .containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    }
  }

  @Test
  void aTargetThatTakesAMessageAndDiesBeforeItSaysSoGetsTheSameIdAgain() throws Exception {
    var sends = new AtomicInteger();
    var source = TestDatabase.create().source();
    try (var memory = MemoryQueueProvider.create(TimeSource.system())) {
      memory.declare(GOOD, QueueSettings.ordered());
      var target =
          around(
              (method, arguments) -> {
                var outcome = method.invoke(memory, arguments);
                if (method.getName().equals("send") && sends.incrementAndGet() % 2 == 1) {
                  throw new KeeperException.OutcomeUnknown("Sending", new IOException("cut"));
                }
                return outcome;
              });
      try (var relay =
          RelayOutbox.start(PostgresQueueProvider.create(source), target, TimeSource.system())) {
        Database.of(source)
            .doInTransaction(
                connection ->
                    relay.send(
                        connection,
                        Map.of(GOOD, List.of(message("good", 1), message("good", 2))),
                        Map.of()));
        relay.committed(List.of(GOOD));
        await().atMost(PATIENCE).until(() -> sends.get() == 4);
      }
      assertThat(texts(memory, GOOD)).containsExactly("1", "2");
    }
  }

  @Test
  void aTransactionThatIsRolledBackSendsNothing() throws Exception {
    var source = TestDatabase.create().source();
    try (var memory = MemoryQueueProvider.create(TimeSource.system());
        var relay =
            RelayOutbox.start(PostgresQueueProvider.create(source), memory, TimeSource.system())) {
      memory.declare(GOOD, QueueSettings.ordered());
      try (var connection = source.getConnection()) {
        connection.setAutoCommit(false);
        relay.send(connection, Map.of(GOOD, List.of(message("good", 1))), Map.of());
        connection.rollback();
      }
      Database.of(source)
          .doInTransaction(
              connection ->
                  relay.send(connection, Map.of(GOOD, List.of(message("good", 2))), Map.of()));
      relay.committed(List.of(GOOD));
      await().atMost(PATIENCE).until(() -> memory.stats(GOOD).depth() == 1);
      assertThat(texts(memory, GOOD)).containsExactly("2");
    }
  }

  private static Message message(String queue, int step) {
    return Message.of(SessionId.of("s"), Payload.text(Integer.toString(step)))
        .withId(MessageId.of(queue + "-" + step))
        .withProperty("bot_name", queue);
  }

  private static List<String> texts(QueueProvider queues, QueueName queue)
      throws InterruptedException {
    var all = new ArrayList<String>();
    var accepted = queues.sessions(queue).acceptNext(Owner.of("test"), Duration.ofSeconds(5));
    try (var held = ((AcceptResult.Accepted) accepted).session()) {
      for (var delivery : held.receive(100, Duration.ZERO)) {
        assertThat(delivery.message().properties()).containsOnlyKeys("bot_name");
        all.add(delivery.payload().asText());
      }
    }
    return all;
  }

  /** Returns the provider, with one queue down for a while; counts arrivals. */
  private static QueueProvider failing(
      QueueProvider real, AtomicBoolean down, ConcurrentHashMap<String, AtomicInteger> sends) {
    return around(
        (method, arguments) -> {
          if (method.getName().equals("send")) {
            if (arguments[0].equals(BAD) && down.get()) {
              throw new KeeperException.Unavailable("The queue bad");
            }
            for (var message : (List<?>) arguments[1]) {
              sends
                  .computeIfAbsent(((Message) message).id().value(), id -> new AtomicInteger())
                  .incrementAndGet();
            }
          }
          return method.invoke(real, arguments);
        });
  }

  /** Executes a call, or fails instead. */
  private interface Around {
    @Nullable Object call(Method method, Object[] arguments) throws Exception;
  }

  private static QueueProvider around(Around around) {
    return (QueueProvider)
        Proxy.newProxyInstance(
            RelayOutboxTest.class.getClassLoader(),
            new Class<?>[] {QueueProvider.class},
            (proxy, method, arguments) -> {
              try {
                return around.call(method, arguments == null ? new Object[0] : arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
