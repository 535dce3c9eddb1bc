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
import dev.sessionkeeper.spi.HeldSession;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.testkit.TestInRealTime;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** A due message is delivered when its time comes, not at the next poll. */
@ParameterizedClass
@ValueSource(ints = {0, PostgresOptions.NEVER})
@Execution(ExecutionMode.SAME_THREAD)
class DueInTimeTest {
  /**
   * The longest delay in milliseconds. A timer keeps it; a poll each second would be half a second
   * late on average.
   */
  private static final long NOT_THE_NEXT_TICK = 250;

  private static final QueueName QUEUE = QueueName.of("due");
  private static final Owner ME = Owner.of("me");
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final int SESSIONS = 8;

  private final int carryFrom;
  private TestDatabase database;
  private PostgresQueueProvider provider;

  // Set before each test.
  @SuppressWarnings("NullAway.Init")
  DueInTimeTest(int carryFrom) {
    this.carryFrom = carryFrom;
  }

  @BeforeEach
  void start() {
    database = TestDatabase.start();
    provider =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(carryFrom));
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  @TestInRealTime
  void aRetryComesAtItsTime() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      provider.send(QUEUE, List.of(Message.of(SessionId.of("s" + i), Payload.text("x"))));
    }
    var due = new HashMap<SessionId, Instant>();
    for (int i = 0; i < SESSIONS; i++) {
      try (var held = take()) {
        var delivery = held.receive(1, WAIT).get(0);
        var delay = Duration.ofMillis(700 + 130L * i);
        held.settle(
                List.of(new Settled(delivery.sequence(), Settlement.retryAfter(delay, "not yet"))))
            .toCompletableFuture()
            .get();
        due.put(held.id(), now().plus(delay));
      }
    }
    assertInTime(due);
  }

  @TestInRealTime
  void aMessageForLaterComesAtItsTime() throws Exception {
    // A consumer has waited before, so no regular poll is about to begin.
    assertThat(provider.sessions(QUEUE).acceptNext(ME, Duration.ofMillis(50)))
        .isInstanceOf(AcceptResult.NoSession.class);
    var due = new HashMap<SessionId, Instant>();
    for (int i = 0; i < SESSIONS; i++) {
      var session = SessionId.of("s" + i);
      var at = now().plusMillis(700 + 130L * i);
      provider.send(QUEUE, List.of(Message.of(session, Payload.text("x")).notBefore(at)));
      due.put(session, at);
    }
    assertInTime(due);
  }

  private void assertInTime(Map<SessionId, Instant> due) throws Exception {
    var late = new ArrayList<Long>();
    for (int i = 0; i < SESSIONS; i++) {
      try (var held = take()) {
        var delivery = held.receive(1, WAIT).get(0);
        late.add(Duration.between(due.get(held.id()), now()).toMillis());
        held.settle(List.of(new Settled(delivery.sequence(), Settlement.complete())))
            .toCompletableFuture()
            .get();
      }
    }
    assertThat(late.stream().sorted().skip(SESSIONS / 2).findFirst().orElseThrow())
        .as("median of milliseconds too late, of " + late)
        .isLessThan(NOT_THE_NEXT_TICK);
  }

  private HeldSession take() throws InterruptedException {
    return ((AcceptResult.Accepted) provider.sessions(QUEUE).acceptNext(ME, WAIT)).session();
  }

  /** Returns the database's time, which decides. */
  private Instant now() throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement = connection.prepareStatement("SELECT clock_timestamp()");
        var rows = statement.executeQuery()) {
      rows.next();
      return rows.getObject(1, OffsetDateTime.class).toInstant();
    }
  }
}
