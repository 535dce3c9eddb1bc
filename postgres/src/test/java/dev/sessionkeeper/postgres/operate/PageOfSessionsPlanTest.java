package dev.sessionkeeper.postgres.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.postgres.PostgresOptions;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.postgres.TestDatabase;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rows that a page of sessions reads, as the database counts them. */
class PageOfSessionsPlanTest {
  private static final QueueName QUEUE = QueueName.of("pages");
  private static final int BATCHES = 3000;
  private static final int OF_BATCH = 50;

  /** The batches whose names limit how far a page can reach. */
  private static final int SAMPLE = 1024;

  private static final String FILL_BATCHES =
      """
      INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, sessions, ids, forms, types,
                                 bodies)
      SELECT k.id, b * 64, b * 64 + %1$d - 1, (1::bigint << %1$d) - 1, %1$d, clock_timestamp(),
             clock_timestamp() + interval '1 day', ARRAY(SELECT 's' || (1000000 + b * %1$d + i) FROM generate_series(0, %1$d - 1) i),
             ARRAY(SELECT 'm' || b * %1$d + i FROM generate_series(0, %1$d - 1) i), ARRAY[0], ARRAY['text/plain'],
             ARRAY(SELECT 'x'::bytea FROM generate_series(0, %1$d - 1) i)
        FROM keeper.queue k, generate_series(1, %2$d) b
      """
          .formatted(OF_BATCH, BATCHES);

  private static final String FILL_ROWS =
      """
      INSERT INTO keeper.lane (queue, session, status, aside, place)
      SELECT k.id, 's' || 1000000 + %1$d + i, 3, 3, i FROM keeper.queue k, generate_series(0, %2$d) i
      """;

  /** A node of a plan, with the rows of each of its runs. */
  private static final Pattern NODE =
      Pattern.compile("^[ >-]*(.*?)  ?\\(actual rows=([0-9.]+) loops=([0-9]+)\\)$");

  private TestDatabase database;
  private PostgresQueueProvider provider;

  @BeforeEach
  void fill() throws SQLException {
    database = TestDatabase.start();
    provider =
        PostgresQueueProvider.create(
            database.pool(), PostgresOptions.ofDefaults().withCarryFrom(PostgresOptions.NEVER));
    provider.declare(QUEUE, QueueSettings.ordered());
    execute(FILL_BATCHES);
  }

  @AfterEach
  void stop() {
    provider.close();
    database.close();
  }

  /** Red when names are read twice, or by a function scan, which keeps a copy of each batch. */
  @Test
  void aPageReadsEachNameOnce() throws SQLException {
    var nodes = explain(10);

    assertThat(nodes).filteredOn(node -> node.what.contains("ProjectSet")).isNotEmpty();
    assertThat(nodes.stream().filter(Node::isOfMessages).mapToDouble(Node::rows).sum())
        .isLessThanOrEqualTo((BATCHES + SAMPLE) * OF_BATCH);
    assertThat(nodes)
        .filteredOn(node -> node.what.contains("Function Scan"))
        .allSatisfy(node -> assertThat(node.loops).as(node.what).isLessThanOrEqualTo(1));
    assertThat(nodes)
        .filteredOn(node -> node.what.matches(".*Scan.* on bundle.*"))
        .allSatisfy(node -> assertThat(node.rows()).isLessThanOrEqualTo(BATCHES));
  }

  /** Red when sessions behind the page are counted too. */
  @Test
  void aPageCountsTheMessagesOfItsOwnSessionsOnly() throws SQLException {
    var nodes = explain(10);

    assertThat(nodes).filteredOn(node -> node.what.contains("Aggregate")).isNotEmpty();
    assertThat(nodes)
        .filteredOn(node -> node.what.contains("Aggregate") || node.what.equals("Append"))
        .allSatisfy(node -> assertThat(node.rows()).as(node.what).isLessThanOrEqualTo(20));
  }

  /** Red when a page joins all sessions that have a row with all names in batches. */
  @Test
  void aPageFindsTheRowOfASessionByItsKey() throws SQLException {
    execute(FILL_ROWS.formatted(OF_BATCH, 5 * OF_BATCH));

    assertThat(explain(10))
        .filteredOn(node -> node.what.contains(" lane"))
        .isNotEmpty()
        .allSatisfy(node -> assertThat(node.rows()).isLessThanOrEqualTo(6 * OF_BATCH));
  }

  /**
   * A node.
   *
   * @param each its rows in each run
   * @param loops its runs
   */
  private record Node(String what, double each, long loops) {
    double rows() {
      return each * loops;
    }

    boolean isOfMessages() {
      return what.contains("ProjectSet") || what.matches(".*Function Scan on (unnest )?u(_\\d+)?");
    }
  }

  private List<Node> explain(int most) throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement =
            connection.prepareStatement(
                "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF, SUMMARY OFF) "
                    + InspectQueue.NAMES)) {
      var none = connection.createArrayOf("text", new String[0]);
      statement.setInt(
          1, Math.toIntExact(database.number("SELECT id FROM keeper.queue WHERE name = ?", QUEUE)));
      statement.setString(2, "");
      statement.setNull(3, Types.INTEGER);
      statement.setInt(4, most);
      statement.setArray(5, none);
      statement.setArray(6, none);
      var nodes = new ArrayList<Node>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          var node = NODE.matcher(rows.getString(1));
          if (node.matches()) {
            nodes.add(
                new Node(
                    node.group(1),
                    Double.parseDouble(node.group(2)),
                    Long.parseLong(node.group(3))));
          }
        }
      }
      return nodes;
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
