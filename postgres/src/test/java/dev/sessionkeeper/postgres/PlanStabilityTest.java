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
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * No statement of the hot path may ever read a table from end to end: not when it was planned on an
 * empty table, not after a vacuum that found nothing, not on a large backlog. The database counts
 * its sequential scans, so nothing is guessed.
 */
class PlanStabilityTest {
  private static final QueueName QUEUE = QueueName.of("plans");
  private static final List<String> TABLES =
      List.of("message", "lane", "duplicate", "tally", "discovery", "loose_message", "dead_letter");

  private static TestDatabase database;
  private static PostgresQueueProvider provider;

  @BeforeAll
  static void start() throws SQLException {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool());
    provider.declare(QUEUE, QueueSettings.ordered());
  }

  @AfterAll
  static void stop() {
    provider.close();
    database.close();
  }

  @Test
  void everyStatementUsesItsIndexOnEmptyVacuumedAndLargeTables() throws Exception {
    work(20);
    vacuum();
    long before = sequentialScans();
    work(20);
    assertThat(sequentialScans()).as("scans on vacuumed, nearly empty tables").isEqualTo(before);

    backlog(20_000);
    before = sequentialScans();
    work(20);
    assertThat(sequentialScans()).as("scans before statistics of a backlog").isEqualTo(before);

    vacuum();
    before = sequentialScans();
    work(20);
    assertThat(sequentialScans()).as("scans with a backlog and statistics").isEqualTo(before);
  }

  /** Everything the hot path does, a few times, on the same connections. */
  private static void work(int rounds) throws InterruptedException {
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

  private static void settle(
      dev.sessionkeeper.spi.HeldSession held, long sequence, Settlement settlement) {
    held.settle(List.of(new Settled(sequence, settlement))).toCompletableFuture().join();
  }

  private static Message message(SessionId session, String text) {
    return Message.of(session, Payload.text(text));
  }

  private static void backlog(int messages) {
    for (int from = 0; from < messages; from += 1000) {
      int first = from;
      provider.send(
          QUEUE,
          IntStream.range(first, first + 1000)
              .mapToObj(i -> message(SessionId.of("backlog-" + i % 5000), "x"))
              .toList());
    }
    provider.stats(QUEUE);
  }

  private static void vacuum() throws SQLException {
    try (var connection = database.pool().getConnection()) {
      for (var table : TABLES) {
        execute(connection, "VACUUM (ANALYZE) keeper." + table);
      }
    }
  }

  private static long sequentialScans() throws Exception {
    // Backends report when they are idle for a second at most; asking makes this one do it now.
    Thread.sleep(1200);
    try (var connection = database.pool().getConnection();
        var statement =
            connection.prepareStatement(
                """
                SELECT sum(seq_scan) FROM pg_stat_user_tables
                 WHERE schemaname = 'keeper' AND relname = ANY (?)
                """)) {
      execute(connection, "SELECT pg_stat_clear_snapshot()");
      statement.setArray(1, connection.createArrayOf("text", TABLES.toArray()));
      try (var rows = statement.executeQuery()) {
        rows.next();
        return rows.getLong(1);
      }
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
