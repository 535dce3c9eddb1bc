package dev.sessionkeeper.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ForgetOldEventsTest {
  private static final String EVENTS =
      """
      INSERT INTO keeper.github_event (id, delivery_id, type, entity_type, entity_id, session, received_at,
                                       traceparent, headers, verdicts, content_type, payload)
      SELECT gen_random_uuid(), n::text, 'push', 'repository', '1', 's',
             clock_timestamp() - make_interval(days => n), '', '{}', '[]', 'application/json', '{}'
        FROM generate_series(1, 1200) n
      """;
  private static final String ROUTES =
      """
      INSERT INTO keeper.github_route (event, message_id, bot, queue)
      SELECT seq, 'm', 'b', 'q' FROM keeper.github_event
      """;

  @Test
  void eventsOverTheirTimeGoWithTheirRoutesAndOthersStay() {
    var source = TestDatabase.create().source();
    Migrations.apply(source, "queues");
    Migrations.apply(source, "gateway");
    var database = Database.of(source);
    database.doInTransaction(
        connection -> {
          try (var statement = connection.createStatement()) {
            statement.execute(EVENTS);
            statement.execute(ROUTES);
          }
        });
    var forget = new ForgetOldEvents(() -> Duration.ofDays(30));
    assertThat(database.inTransaction(forget::forgetSome)).isEqualTo(500);
    assertThat(database.inTransaction(forget::forgetSome)).isEqualTo(500);
    assertThat(database.inTransaction(forget::forgetSome)).isEqualTo(1200 - 29 - 1000);
    assertThat(database.inTransaction(forget::forgetSome)).isZero();
    assertThat(count(database, "github_event")).isEqualTo(29);
    assertThat(count(database, "github_route")).isEqualTo(29);
  }

  private static long count(Database database, String table) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT count(*) FROM keeper." + table)) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }
}
