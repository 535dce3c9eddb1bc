package dev.sessionkeeper.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import dev.sessionkeeper.spi.OperableSessions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No statement of the hot path reads more than it needs: not if it was planned on empty tables, not
 * after a vacuum of empty tables, not with a large backlog. The database itself counts the reads.
 * (Seen red: a join that began at the session rows read all of them.)
 */
@ParameterizedClass
@ValueSource(ints = {0, PostgresOptions.NEVER})
@Execution(ExecutionMode.SAME_THREAD)
class PlanStabilityTest {
  private static final QueueName QUEUE = QueueName.of("plans");
  private static final int ROUNDS = 20;
  private static final List<String> TABLES =
      List.of(
          "message",
          "bundle",
          "completion",
          "lane",
          "duplicate",
          "sent",
          "tally",
          "discovery",
          "reader",
          "loose_message",
          "dead_letter");

  private final int carryFrom;

  private TestDatabase database;
  private PostgresQueueProvider provider;

  // Set before each test.
  @SuppressWarnings("NullAway.Init")
  PlanStabilityTest(int carryFrom) {
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

  @Test
  void plansMadeOnEmptyTablesServeABacklogToo() throws Exception {
    work(ROUNDS);
    backlog(20_000);
    assertWorkReadsLittle("a backlog without statistics");

    vacuum();
    assertWorkReadsLittle("a backlog with statistics");
  }

  @Test
  void plansMadeAfterAVacuumOfEmptyTablesServeABacklogToo() throws Exception {
    work(ROUNDS);
    vacuum();
    assertWorkReadsLittle("vacuumed, empty tables");

    backlog(20_000);
    assertWorkReadsLittle("a backlog after that");
  }

  @Test
  void aTableThatIsReadFromEndToEndIsNoticed() throws Exception {
    var before = reads();
    try (var connection = database.pool().getConnection()) {
      execute(connection, "SELECT count(*) FROM keeper.lane WHERE reason = 'none'");
    }
    assertThat(reads().scans()).isGreaterThan(before.scans());
  }

  @Test
  void aPageOfAPileReadsNoMoreThanItHandsOut() throws Exception {
    for (int i = 0; i < 32; i++) {
      provider.send(
          QUEUE,
          IntStream.range(0, 960).mapToObj(n -> message(SessionId.of("pile-" + n), "x")).toList());
    }
    var before = reads();
    try (var connection = database.pool().getConnection()) {
      execute(
          connection,
          "SELECT keeper.next_page(id, -1, '1:1:', pg_current_snapshot(), 0, 128, 1000000, true)"
              + " FROM keeper.queue");
    }
    assertThat(reads().rows() - before.rows()).as("of 480 bundles").isLessThan(128);
  }

  /**
   * All queues draw from one sequence. A reader must not take numbers of other queues for new
   * messages of its own.
   */
  @Test
  void numbersThatOtherQueuesDrewMakeNobodyLookThroughAPileThatWaits() throws Exception {
    assumeTrue(carryFrom == 0, "only who reads alone looks by numbers");
    var paused = SessionId.of("paused");
    for (int i = 0; i < 3; i++) {
      provider.send(QUEUE, IntStream.range(0, 1000).mapToObj(n -> message(paused, "x")).toList());
    }
    provider.act(QUEUE, paused, OperableSessions.Act.PAUSE, "look");
    var neighbour = QueueName.of("neighbour");
    provider.declare(neighbour, QueueSettings.ordered());
    do {
      work(1);
    } while (database.count("reader", QUEUE) == 0);
    provider.stats(QUEUE);
    for (int i = 0; i < 100; i++) {
      provider.send(neighbour, List.of(message(paused, "x")));
    }
    var before = reads();
    provider.stats(QUEUE);
    provider.stats(QUEUE);
    assertThat(reads().rows() - before.rows()).as("of a pile of 3000").isLessThan(2000);
  }

  /**
   * Searching a backlog for one session costs as much as a poll for all sessions. (Seen red: a
   * search for each session that ran out of messages.)
   */
  @Test
  void whatIsBehindAPileIsNotLookedForOneSessionAtATime() throws Exception {
    countCalls();
    provider.send(QUEUE, List.of(message(SessionId.of("early"), "1")));
    var accepted =
        (AcceptResult.Accepted)
            provider.sessions(QUEUE).acceptNext(Owner.of("planner"), Duration.ofSeconds(10));
    try (var held = accepted.session()) {
      settle(held, held.receive(1, Duration.ZERO).get(0).sequence(), Settlement.complete());
      for (int i = 0; i < 12; i++) {
        provider.send(
            QUEUE,
            IntStream.range(0, 1000).mapToObj(n -> message(SessionId.of("pile"), "x")).toList());
      }
      provider.send(QUEUE, List.of(message(SessionId.of("early"), "2")));
      assertThat(held.receiveKnown(1, Duration.ofSeconds(10))).hasSize(1);
    }
    flushStatistics();
    assertThat(calls("send")).isPositive();
    assertThat(calls("untie_session")).isZero();
  }

  private void countCalls() throws Exception {
    try (var connection = database.admin().getConnection();
        var statement = connection.prepareStatement("SHOW track_functions")) {
      execute(connection, "ALTER SYSTEM SET track_functions = 'pl'");
      execute(connection, "SELECT pg_reload_conf()");
      String now;
      do {
        Thread.sleep(10);
        try (var rows = statement.executeQuery()) {
          rows.next();
          now = rows.getString(1);
        }
      } while (!now.equals("pl"));
    }
  }

  private long calls(String function) throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement =
            connection.prepareStatement(
                "SELECT COALESCE(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = ?")) {
      execute(connection, "SELECT pg_stat_clear_snapshot()");
      statement.setString(1, function);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  private void assertWorkReadsLittle(String when) throws Exception {
    var before = reads();
    work(ROUNDS);
    var after = reads();
    assertThat(after.scans() - before.scans()).as("tables read whole with " + when).isZero();
    assertThat(after.rows() - before.rows())
        .as("index entries read with " + when)
        .isLessThan(ROUNDS * 300L);
  }

  /** Runs every step of the hot path a few times, on the same connections. */
  private void work(int rounds) throws InterruptedException {
    for (int i = 0; i < rounds; i++) {
      var session = SessionId.of("work-" + i);
      provider.send(
          QUEUE, List.of(message(session, "1"), message(session, "2"), message(session, "3")));
      var accepted =
          (AcceptResult.Accepted)
              provider.sessions(QUEUE).acceptNext(Owner.of("planner"), Duration.ofSeconds(10));
      try (var held = accepted.session()) {
        var batch = held.receive(1, Duration.ZERO);
        settle(held, batch.get(0).sequence(), Settlement.complete());
        var next = held.receive(1, Duration.ZERO);
        if (!next.isEmpty()) {
          settle(held, next.get(0).sequence(), Settlement.deadLetter("plan"));
        }
        held.renew();
      }
    }
  }

  private static void settle(HeldSession held, long sequence, Settlement settlement) {
    held.settle(List.of(new Settled(sequence, settlement))).toCompletableFuture().join();
  }

  private static Message message(SessionId session, String text) {
    return Message.of(session, Payload.text(text));
  }

  private void backlog(int messages) {
    for (int from = 0; from < messages; from += 1000) {
      int first = from;
      provider.send(
          QUEUE,
          IntStream.range(first, first + 1000)
              .mapToObj(i -> message(SessionId.of("backlog-" + i % 5000), "x"))
              .toList());
    }
    // Without a reader, polls give the sessions of the backlog their rows, page by page.
    for (int page = 0; page <= messages / 4096; page++) {
      provider.stats(QUEUE);
    }
  }

  private void vacuum() throws SQLException {
    try (var connection = database.pool().getConnection()) {
      for (var table : TABLES) {
        execute(connection, "VACUUM (ANALYZE) keeper." + table);
      }
    }
  }

  /**
   * The reads of the database so far.
   *
   * @param scans of whole tables
   * @param rows entries of indexes
   */
  private record Reads(long scans, long rows) {}

  private Reads reads() throws SQLException {
    flushStatistics();
    try (var connection = database.pool().getConnection();
        var statement =
            connection.prepareStatement(
                """
                SELECT (SELECT sum(seq_scan) FROM pg_stat_user_tables
                         WHERE schemaname = 'keeper' AND relname = ANY (?)),
                       (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
                         WHERE schemaname = 'keeper' AND relname = ANY (?))
                """)) {
      execute(connection, "SELECT pg_stat_clear_snapshot()");
      var tables = connection.createArrayOf("text", TABLES.toArray());
      statement.setArray(1, tables);
      statement.setArray(2, tables);
      try (var rows = statement.executeQuery()) {
        rows.next();
        return new Reads(rows.getLong(1), rows.getLong(2));
      }
    }
  }

  /** Makes every idle connection report its statistics now; by default it reports later. */
  private void flushStatistics() throws SQLException {
    var idle = new ArrayList<Connection>();
    try {
      int count = database.pool().getHikariPoolMXBean().getIdleConnections();
      for (int i = 0; i < count; i++) {
        idle.add(database.pool().getConnection());
      }
      for (var connection : idle) {
        execute(connection, "SELECT pg_stat_force_next_flush()");
      }
    } finally {
      for (var connection : idle) {
        connection.close();
      }
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
