package dev.sessionkeeper.server.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.server.security.ApiKeys;
import java.sql.SQLException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator of one queue can neither hide nor delay the bulk runs of another queue. */
class BulkOfOthersTest {
  private final TestDatabase database = TestDatabase.create();
  private final ApiKeys.Generated mallory = ApiKeys.generate();
  private final ApiKeys.Generated ann = ApiKeys.generate();
  private final ApiKeys.Generated admin = ApiKeys.generate();
  private TestServer server;

  @BeforeEach
  void start() {
    server =
        TestServer.start(
            """
            jobs: { poll: 1m }
            security:
              keys:
                - { name: admin, sha256: %s, roles: [admin] }
                - { name: mallory, sha256: %s, roles: [read, operate], queues: [hers] }
                - { name: ann, sha256: %s, roles: [read, operate], queues: [mine] }
            """
                .formatted(admin.sha256(), mallory.sha256(), ann.sha256()),
            database.environment());
    for (var queue : new String[] {"hers", "mine"}) {
      send(admin, "PUT", "/queues/" + queue, "{\"mode\":\"ORDERED\"}");
    }
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void runsOfOtherQueuesTakeNoPlaceInTheList() throws Exception {
    assertThat(begin(ann, "mine").status()).isEqualTo(201);
    haveRun("hers", 150);
    assertThat(send(ann, "GET", "/bulk", "").json().get("runs")).hasSize(1);
    assertThat(send(mallory, "GET", "/bulk", "").json().get("runs")).hasSize(100);
  }

  @Test
  void aQueueHasALimitedNumberOfRunsThatHaveNotEnded() {
    for (int i = 0; i < 10; i++) {
      assertThat(begin(mallory, "hers").status()).isEqualTo(201);
    }
    assertThat(begin(mallory, "hers").problem()).isEqualTo("conflict");
    assertThat(begin(ann, "mine").status()).isEqualTo(201);
  }

  private TestServer.Reply begin(ApiKeys.Generated key, String queue) {
    var path = "/queues/" + queue + "/bulk";
    var token =
        send(key, "POST", path, "{\"act\":\"pause\",\"dryRun\":true}")
            .json()
            .get("token")
            .asString();
    return send(
        key, "POST", path, "{\"act\":\"pause\",\"token\":\"" + token + "\",\"reason\":\"test\"}");
  }

  private void haveRun(String queue, int runs) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement =
            connection.prepareStatement(
                """
                INSERT INTO keeper.bulk (id, act, queue, filter, actor, source, reason, total, bound, state)
                SELECT gen_random_uuid(), 'pause', ?, '{}', 'mallory', '', '', 0, '', 'finished'
                  FROM generate_series(1, ?)
                """)) {
      statement.setString(1, queue);
      statement.setInt(2, runs);
      statement.executeUpdate();
    }
  }

  private TestServer.Reply send(ApiKeys.Generated key, String method, String path, String body) {
    return server.send(
        method,
        path,
        body.isEmpty() ? Optional.empty() : Optional.of(body),
        "Authorization",
        "Bearer " + key.key());
  }
}
