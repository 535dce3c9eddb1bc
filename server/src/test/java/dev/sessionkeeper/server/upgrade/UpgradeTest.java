package dev.sessionkeeper.server.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This release opens the tables of every earlier one, with their rows. {@code packaging/keep-schema
 * VERSION} adds a dump; each release does so.
 */
@Tag("slow")
class UpgradeTest {
  private static final Path RELEASED = Path.of("src", "test", "released");
  private static final String TENANT = "6f9619ff-8b86-4011-b42d-00c04fc964ff";
  private static final int MESSAGES = 5;

  static Stream<Path> releases() throws IOException {
    try (var folders = Files.list(RELEASED)) {
      return folders.sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("releases")
  void aServerTakesOverTheDataOfARelease(Path release) throws SQLException, IOException {
    var database = TestDatabase.empty();
    SchemaDump.load(database, release);
    try (var server =
        TestServer.start(
            "jobs: { dead_letter_retention: 36500d }\nusage: { interval: 1s }\n",
            database.environment())) {
      assertThat(server.get("/health/ready").status()).isEqualTo(200);
      for (var session : List.of("customer-1", "customer-2")) {
        act(server, session, "resume");
        assertThat(handled(server, session)).containsExactly(1, 2, 3, 4, 5);
      }
      assertThat(server.get("/queues/orders/dead-letters").json().get("deadLetters")).hasSize(1);
      assertThat(server.get("/queues/orders").json().get("lockDuration").asString())
          .isEqualTo("PT2M");
      assertThat(server.get("/sessions?tenantObjectId=" + TENANT).json().get("sessions"))
          .hasSize(1);
      assertThat(server.get("/audit/verify").json().get("intact").asBoolean()).isTrue();
      // The old release may have been stopped before it metered its last moments.
      await().atMost(Duration.ofSeconds(30)).until(() -> difference(server).equals("0"));
    }
  }

  private static void act(TestServer server, String session, String action) {
    var answer =
        server.post(
            "/queues/orders/sessions/actions",
            "{\"sessionId\":\"%s\",\"action\":\"%s\"}".formatted(session, action));
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
  }

  /** Returns the active time of the tenant that is missing in the ledger. */
  private static String difference(TestServer server) {
    var tenants = server.get("/usages/proof?tenantObjectId=" + TENANT).json().get("tenants");
    return tenants.isEmpty() ? "none" : tenants.get(0).get("differences").get("ledger").asString();
  }

  private static List<Integer> handled(TestServer server, String session) {
    var lease =
        server
            .post("/queues/orders/leases", "{\"sessionId\":\"%s\"}".formatted(session))
            .json()
            .get("leaseId")
            .asString();
    var bodies = new ArrayList<Integer>();
    server
        .get("/queues/orders/leases/" + lease + "/messages?max=100")
        .json()
        .get("messages")
        .forEach(message -> bodies.add(message.get("body").asInt()));
    return bodies;
  }

  @Test
  void aServerRefusesTablesOfANewerReleaseAndNamesTheVersion() throws SQLException {
    var database = TestDatabase.empty();
    TestServer.start("", database.environment()).close();
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(
          """
          INSERT INTO keeper.schema_history_queues
          SELECT max(installed_rank) + 1, '99', 'next', 'SQL', 'V99__next.sql', 1, 'keeper', now(), 1, true
            FROM keeper.schema_history_queues
          """);
    }
    assertThatThrownBy(() -> TestServer.start("", database.environment()))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("version 99")
        .hasMessageContaining("restore a backup");
  }

  @Test
  @EnabledIfSystemProperty(named = "keep.schema", matches = ".+")
  void keepsTheSchemaOfThisRelease() throws SQLException, IOException {
    var database = TestDatabase.empty();
    try (var server = TestServer.start("usage: { interval: 1s }\n", database.environment())) {
      fill(server);
    }
    SchemaDump.write(database, RELEASED.resolve(System.getProperty("keep.schema")));
  }

  private static void fill(TestServer server) {
    server.put("/queues/orders", "{\"mode\":\"ORDERED\",\"lockDuration\":\"PT2M\"}");
    for (int n = 1; n <= MESSAGES; n++) {
      for (var session : List.of("customer-1", "customer-2")) {
        server.post(
            "/queues/orders/messages",
            "{\"messages\":[{\"sessionId\":\"%s\",\"body\":%d}]}".formatted(session, n));
      }
    }
    // A dump gets old; messages of paused sessions do not expire.
    List.of("customer-1", "customer-2").forEach(session -> act(server, session, "pause"));
    server.post("/queues/orders/messages", "{\"messages\":[{\"sessionId\":\"bad\",\"body\":0}]}");
    act(server, "bad", "deadLetterHead");
    var session =
        server.put(
            "/sessions",
            """
            {"tenantObjectId":"%s","userObjectId":"%s","capacityId":"%s","sessionKind":2}\
            """
                .formatted(TENANT, TENANT, TENANT));
    server.delete("/sessions/" + session.json().get("sessionId").asString());
    server.post("/streams/news/events", "{\"data\":{\"kept\":true}}");
    await().until(() -> difference(server).equals("0"));
  }
}
