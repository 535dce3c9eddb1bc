package dev.sessionkeeper.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** The overview shows what it can when a part of the store is broken. */
class OverviewTest {
  @Test
  void aBrokenPartIsNamedAndHidesNoOtherTrouble() throws SQLException {
    var database = TestDatabase.create();
    try (var server = TestServer.start("", database.environment())) {
      try (var connection = database.source().getConnection();
          var statement = connection.createStatement()) {
        statement.execute("ALTER TABLE keeper.usage_batch RENAME TO usage_batch_away");
      }
      var page = server.get("/");
      assertThat(page.status()).isEqualTo(200);
      assertThat(page.body())
          .contains("Usage cannot be looked at", "SQL state 42P01", "Waiting messages");
    }
  }
}
