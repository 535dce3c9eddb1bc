package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.processor.SessionProcessor;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes consume one queue: one of them reads it, and the other one is its guest. */
@Tag("slow")
class TwoConsumersTest {
  private static final QueueName QUEUE = QueueName.of("two");
  private static final int SESSIONS = 300;
  private static final int PER_SENDER = 6000;

  private TestDatabase database;
  private final Map<String, Integer> last = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> handledBy = new ConcurrentHashMap<>();
  private final List<String> violations = java.util.Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch left = new CountDownLatch(2 * PER_SENDER);

  @BeforeEach
  void start() {
    database = TestDatabase.start();
  }

  @AfterEach
  void stop() {
    database.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void everythingIsHandledOnceAndInOrderLongBeforeALeaseRunsOut(int handlerMillis)
      throws Exception {
    try (var first = PostgresQueueProvider.create(database.pool());
        var second = PostgresQueueProvider.create(database.pool())) {
      first.declare(QUEUE, QueueSettings.ordered().withLockDuration(Duration.ofMinutes(5)));
      try (var one = consume(first, "first", handlerMillis);
          var two = consume(second, "second", handlerMillis)) {
        var senders = List.of(send(first, 0), send(second, 1));
        for (var sender : senders) {
          sender.join();
        }
        assertThat(left.await(30, TimeUnit.SECONDS)).as("%s left; %s", left.getCount(), lanes()).isTrue();
        assertThat(one.state()).isEqualTo(two.state());
      }
    }
    assertThat(violations).isEmpty();
    System.out.println("handled by " + handledBy);
  }

  private SessionProcessor consume(
      PostgresQueueProvider provider, String name, int handlerMillis) {
    return SessionProcessor.builder(
            provider,
            QUEUE,
            (delivery, session) -> {
              if (handlerMillis > 0) {
                Thread.sleep(handlerMillis);
              }
              handled(delivery);
              handledBy.computeIfAbsent(name, n -> new AtomicInteger()).incrementAndGet();
              return Settlement.complete();
            })
        .maxConcurrentSessions(32)
        .build()
        .start();
  }

  /** Numbers of each sender grow within a session. */
  private void handled(Delivery delivery) {
    var parts = delivery.payload().asText().split(" ");
    var key = parts[0] + " " + parts[1];
    int number = Integer.parseInt(parts[2]);
    var before = last.put(key, number);
    if ((before != null && before >= number) || delivery.attempt() > 1) {
      violations.add(key + ": " + number + " after " + before + ", attempt " + delivery.attempt());
    }
    left.countDown();
  }

  private static Thread send(PostgresQueueProvider provider, int sender) {
    return Thread.ofVirtual()
        .start(
            () -> {
              for (int i = 0; i < PER_SENDER; i += 20) {
                var messages = new ArrayList<Message>();
                for (int j = i; j < i + 20; j++) {
                  int session = ThreadLocalRandom.current().nextInt(SESSIONS);
                  messages.add(
                      Message.of(
                          SessionId.of("s" + session),
                          Payload.text(session + " " + sender + " " + j)));
                }
                provider.send(QUEUE, messages);
              }
            });
  }

  /** What is to be seen of sessions that were left. */
  private String lanes() throws SQLException {
    var lanes = new StringBuilder();
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                """
                SELECT l.session || ' status ' || l.status || ' epoch ' || l.epoch || ' node ' || COALESCE(l.node, '-')
                       || ' owner ' || COALESCE(l.owner, '-') || ' reached ' || l.reached || ' until ' || COALESCE(l.until::text, '-')
                       || ' now ' || clock_timestamp()
                       || ' messages ' || (SELECT count(*) FROM keeper.message m WHERE m.session = l.session)
                  FROM keeper.lane l
                 UNION ALL
                SELECT 'waiting ' || w.session || ' ' || w.seq FROM keeper.waiting_message w
                 UNION ALL
                SELECT 'reader ' || r.node || ' ' || r.epoch FROM keeper.reader r
                 UNION ALL
                SELECT 'late ' || s.session FROM keeper.late_session s
                """)) {
      while (rows.next()) {
        lanes.append(rows.getString(1)).append('\n');
      }
    }
    return lanes.toString();
  }
}
