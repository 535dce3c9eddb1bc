package dev.sessionkeeper.postgres;

import static dev.sessionkeeper.postgres.SearchSessions.Filter.ATTENTION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Page;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.spi.SessionStatus;
import dev.sessionkeeper.store.Database;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Lists of sessions in a queue with so many session rows that no list may read all of them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SearchSessionsTest {
  private static final QueueName QUEUE = QueueName.of("orders");
  private static final int MOST_ROWS = 20_000;

  /**
   * Fills the queue with 40,000 rows. The last one is ready; the others are parked, paused, waiting
   * and held in turns.
   */
  private static final String FILL =
      """
      INSERT INTO keeper.lane (queue, status, aside, place, until, session, owner, reason, since)
      SELECT k.id, (ARRAY[3, 4, 2, 1])[n % 4 + 1], (ARRAY[3, 4, NULL, NULL])[n % 4 + 1], n,
             clock_timestamp() + interval '1 hour', 's-' || lpad(n::text, 6, '0'),
             CASE WHEN n % 4 = 3 THEN 'someone' END, 'a test', clock_timestamp()
        FROM keeper.queue k, generate_series(0, 39999) n WHERE k.name = 'orders'
      """;

  private static final String LAST =
      """
      INSERT INTO keeper.lane (queue, status, place, session)
      SELECT k.id, 0, 0, 't-last' FROM keeper.queue k WHERE k.name = 'orders'
      """;

  private TestDatabase database;
  private PostgresQueueProvider provider;
  private SearchSessions search;

  @BeforeAll
  void fill() throws SQLException {
    database = TestDatabase.start();
    provider = PostgresQueueProvider.create(database.pool());
    provider.declare(QUEUE, QueueSettings.ordered());
    search = new SearchSessions(Database.of(database.pool()));
    execute(FILL, LAST, "ANALYZE keeper.lane");
  }

  @AfterAll
  void end() {
    provider.close();
    database.close();
  }

  @Test
  void sessionsThatNeedAPersonComeInOrderWhateverTheirStatus() {
    assertThat(names(ATTENTION, "", 7))
        .containsExactly(
            "s-000000", "s-000001", "s-000002", "s-000004", "s-000005", "s-000006", "s-000008");
    assertThat(names(ATTENTION, "s-03999", 9))
        .containsExactly(
            "s-039990", "s-039992", "s-039993", "s-039994", "s-039996", "s-039997", "s-039998");
  }

  @Test
  void aListOfOneStatusHasNoOther() {
    assertThat(names(Set.of(SessionStatus.PAUSED), "", 2)).containsExactly("s-000001", "s-000005");
    assertThat(names(Set.of(SessionStatus.WAITING), "", 2)).containsExactly("s-000002", "s-000006");
    assertThat(names(Set.of(SessionStatus.HELD), "", 2)).containsExactly("s-000003", "s-000007");
  }

  @Test
  void theOnlyReadySessionIsFoundPageByPage() {
    var found = new ArrayList<String>();
    var cursor = Optional.<String>empty();
    int pages = 0;
    do {
      var page = page(Set.of(SessionStatus.READY), "", new Page.Request(10, cursor)).page();
      page.items().forEach(view -> found.add(view.id().value()));
      cursor = page.next();
      pages++;
    } while (cursor.isPresent());

    assertThat(found).containsExactly("t-last");
    assertThat(pages).as("each page looks through a part of the lanes").isBetween(4, 6);
  }

  @Test
  void countsAreExactUpToTenThousand() {
    assertThat(search.counts(QUEUE)).hasValue(new SearchSessions.Counts(10_001, 10_000, 1));
    assertThat(search.counts(QueueName.of("unknown"))).isEmpty();
  }

  @Test
  void noListReadsMoreLanesThanItMay() throws SQLException {
    for (var statuses :
        List.of(
            ATTENTION,
            Set.of(SessionStatus.PARKED),
            Set.of(SessionStatus.HELD),
            Set.of(SessionStatus.READY))) {
      long before = lanesRead();
      page(statuses, "", Page.Request.first(50));
      assertThat(lanesRead() - before).as(statuses.toString()).isLessThanOrEqualTo(MOST_ROWS + 200);
    }
  }

  /** Returns how many rows scans have read; connections report that on demand. */
  private long lanesRead() throws SQLException {
    // A pool of many connections: each tells its own numbers only.
    database.pool().getHikariPoolMXBean().softEvictConnections();
    org.awaitility.Awaitility.await()
        .until(() -> database.pool().getHikariPoolMXBean().getActiveConnections() == 0);
    return database.number(
        """
        SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'lane' AND ?::text IS NOT NULL
        """,
        QUEUE);
  }

  private List<String> names(Set<SessionStatus> statuses, String prefix, int limit) {
    return page(statuses, prefix, Page.Request.first(limit)).page().items().stream()
        .map(view -> view.id().value())
        .toList();
  }

  private SearchSessions.Found page(
      Set<SessionStatus> statuses, String prefix, Page.Request request) {
    return search.page(QUEUE, new SearchSessions.Filter(statuses, prefix), request);
  }

  private void execute(String... statements) throws SQLException {
    try (var connection = database.pool().getConnection();
        var statement = connection.createStatement()) {
      for (var sql : statements) {
        statement.execute(sql);
      }
    }
  }
}
