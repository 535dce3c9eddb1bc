package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.AcceptResult;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Q-01 for all pairs of senders, while open transactions commit in another order than their
 * numbers, or roll back.
 */
@ParameterizedClass
@CsvSource({"0, 4096", "0, 3", PostgresOptions.NEVER + ", 4096"})
@Execution(ExecutionMode.SAME_THREAD)
class SendOrderTest {
  private static final QueueName QUEUE = QueueName.of("send-order");
  private static final int SESSIONS = 20;
  private static final Duration SENDING = Duration.ofSeconds(4);

  private final PostgresOptions options;
  private TestDatabase database;
  private PostgresQueueProvider provider;

  private final Map<String, Sent> sends = new ConcurrentHashMap<>();
  private final Map<SessionId, List<String>> handled = new ConcurrentHashMap<>();
  private final AtomicInteger number = new AtomicInteger();
  private volatile boolean isSending = true;

  /** The times at which a send began, and at which it returned or its transaction was committed. */
  private record Sent(long began, long returned) {}

  // Set before each test.
  @SuppressWarnings("NullAway.Init")
  SendOrderTest(int carryFrom, int page) {
    this.options = PostgresOptions.ofDefaults().withCarryFrom(carryFrom).withPage(page);
  }

  @BeforeEach
  void start() {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool(), options);
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  @Test
  void whatWasSentBeforeIsHandledBeforeAlsoWhenTransactionsCommitOutOfOrder() throws Exception {
    var tasks = new ArrayList<Callable<Void>>();
    for (int i = 0; i < 8; i++) {
      var random = new Random(i);
      tasks.add(() -> sendAtOnce(random));
    }
    for (int i = 0; i < 4; i++) {
      var random = new Random(100 + i);
      tasks.add(() -> sendInOpenTransactions(random));
    }
    for (int i = 0; i < 6; i++) {
      tasks.add(this::handle);
    }
    tasks.add(
        () -> {
          Thread.sleep(SENDING);
          isSending = false;
          return null;
        });
    runAll(tasks);

    assertThat(handled.values().stream().mapToInt(List::size).sum()).isEqualTo(sends.size());
    assertThat(handled.values().stream().flatMap(List::stream)).doesNotHaveDuplicates();
    assertThat(overtakings()).isEmpty();
    assertThat(sends.size()).isGreaterThan(500);
  }

  private Void sendAtOnce(Random random) {
    while (isSending) {
      var message = next(random);
      long began = System.nanoTime();
      provider.send(QUEUE, List.of(message));
      sends.put(message.id().value(), new Sent(began, System.nanoTime()));
    }
    return null;
  }

  private Void sendInOpenTransactions(Random random) throws Exception {
    while (isSending) {
      try (var connection = database.pool().getConnection()) {
        connection.setAutoCommit(false);
        var message = next(random);
        long began = System.nanoTime();
        provider.send(connection, QUEUE, List.of(message));
        Thread.sleep(random.nextInt(50));
        if (random.nextInt(10) == 0) {
          connection.rollback();
        } else {
          connection.commit();
          sends.put(message.id().value(), new Sent(began, System.nanoTime()));
        }
      }
    }
    return null;
  }

  private Message next(Random random) {
    var session = SessionId.of("s" + random.nextInt(SESSIONS));
    return Message.of(session, Payload.text("m" + number.incrementAndGet()));
  }

  private Void handle() throws InterruptedException {
    while (true) {
      var result = provider.sessions(QUEUE).acceptNext(Owner.of("reader"), Duration.ofMillis(1500));
      if (!(result instanceof AcceptResult.Accepted accepted)) {
        if (!isSending) {
          return null;
        }
        continue;
      }
      try (var session = accepted.session()) {
        var batch = session.receive(7, Duration.ofMillis(5));
        for (var delivery : batch) {
          handled.computeIfAbsent(session.id(), id -> new ArrayList<>()).add(delivery.id().value());
          var unused =
              session.settle(List.of(new Settled(delivery.sequence(), Settlement.complete())));
        }
      }
    }
  }

  /** Returns the messages that were handled after one that was sent later. */
  private List<String> overtakings() {
    var found = new ArrayList<String>();
    for (var session : handled.entrySet()) {
      long latestBegin = Long.MIN_VALUE;
      for (var id : session.getValue()) {
        var sent = sends.get(id);
        if (sent == null) {
          found.add(session.getKey() + ": " + id + " was rolled back");
          continue;
        }
        if (sent.returned < latestBegin) {
          found.add(session.getKey() + ": " + id + " was overtaken");
        }
        latestBegin = Math.max(latestBegin, sent.began);
      }
    }
    return found;
  }

  private static void runAll(List<Callable<Void>> tasks)
      throws InterruptedException, ExecutionException {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var futures = new ArrayList<Future<Void>>();
      tasks.forEach(task -> futures.add(threads.submit(task)));
      for (var future : futures) {
        future.get();
      }
    }
  }
}
