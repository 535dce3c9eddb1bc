package dev.sessionkeeper.server.gateway;

import static dev.sessionkeeper.server.gateway.GatewayServer.pull;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import dev.sessionkeeper.testkit.FaultyNetwork;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two servers on one database, one of which freezes in the middle of its transactions: its traffic
 * no longer reaches the database, and its connections stay open.
 */
class FrozenServerTest {
  private static final String SECRET = "a secret of tests";
  private static final String YAML =
      """
      github: { secrets: ["env:HOOK"] }
      bots:
        - { name: reviewer, events: ["*"] }
      """;

  /** The frozen server's transactions end after 3 s; the rest is for a busy machine. */
  private static final Duration SOON = Duration.ofSeconds(15);

  private final TestDatabase database = TestDatabase.create();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private FaultyNetwork network;
  private TestServer frozen;
  private TestServer healthy;

  @BeforeEach
  void start() throws Exception {
    var environment = new HashMap<>(database.environment());
    environment.put("HOOK", SECRET);
    healthy = TestServer.start(YAML, environment);
    var url = environment.get("KEEPER_STORE_URL");
    int port = URI.create(url.substring("jdbc:".length())).getPort();
    network = FaultyNetwork.to(port);
    environment.put("KEEPER_STORE_URL", url.replace(":" + port + "/", ":" + network.port() + "/"));
    frozen = TestServer.start(YAML, environment);
  }

  @AfterEach
  void stop() throws Exception {
    network.close();
    frozen.close();
    healthy.close();
    threads.shutdownNow();
  }

  @Test
  void aHealthyServerTakesDeliveriesOfTheSameAndOfOtherPullRequests() throws Exception {
    var unused =
        freezeWhileItWaitsFor("keeper.github_route", "github_route", () -> deliver(frozen, 1, 1));
    var answers = new ArrayList<Future<TestServer.Reply>>();
    answers.add(threads.submit(() -> deliver(healthy, 1, 2)));
    answers.add(threads.submit(() -> deliver(healthy, 1, 3)));
    answers.add(threads.submit(() -> deliver(healthy, 2, 1)));
    for (var answer : answers) {
      assertThat(answer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).status()).isLessThan(300);
    }
  }

  @Test
  void deliveriesOfOtherPullRequestsPassThoseThatWaitForTheFrozenServer() throws Exception {
    var unused =
        freezeWhileItWaitsFor("keeper.github_route", "github_route", () -> deliver(frozen, 1, 1));
    var held = new ArrayList<Future<TestServer.Reply>>();
    for (int step = 2; step < 6; step++) {
      int own = step;
      held.add(threads.submit(() -> deliver(healthy, 1, own)));
    }
    for (int number = 2; number < 6; number++) {
      assertThat(deliver(healthy, number, 1).status()).isLessThan(300);
    }
    assertThat(held).as("deliveries of the frozen server's pull request").noneMatch(Future::isDone);
    for (var answer : held) {
      assertThat(answer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).status()).isLessThan(300);
    }
  }

  @Test
  void aHealthyServerAppendsToTheSameStream() throws Exception {
    assertThat(publish(healthy).status()).isEqualTo(201);
    var unused = freezeWhileItWaitsFor("keeper.stream_event", "given", () -> publish(frozen));
    var answer = threads.submit(() -> publish(healthy));
    assertThat(answer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).status()).isEqualTo(201);
  }

  @Test
  void aHealthyServerTellsOfSessionsThatTheFrozenOneWasAboutToTellOf() throws Exception {
    var unused = freezeWhileItWaitsFor("keeper.stream_event", "stream_outbox", () -> put(frozen));
    assertThat(put(healthy).status()).isEqualTo(201);
    await()
        .atMost(SOON)
        .until(
            () ->
                number("SELECT count(*) FROM keeper.stream_event WHERE stream = 'keeper.registry'")
                    >= 1);
  }

  @Test
  void aHealthyServerFindsTheSessionThatTheFrozenOneWasBeginning() throws Exception {
    var session = session();
    var unanswered =
        freezeWhileItWaitsFor(
            "keeper.registered_session", "put_session", () -> put(frozen, session, 1));
    var answer = threads.submit(() -> put(healthy, session, 1));
    assertThat(answer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).status()).isEqualTo(200);
    assertThat(unanswered.get().problem()).as("the session has begun").isEqualTo("outcome-unknown");
  }

  @Test
  void aHealthyServerUpgradesTheSessionThatTheFrozenOneWasEnding() throws Exception {
    var session = session();
    var id = put(healthy, session, 1).json().get("sessionId").asString();
    var unused =
        freezeWhileItWaitsFor(
            "keeper.audit", "INSERT INTO keeper.audit", () -> frozen.delete("/sessions/" + id));
    var answer = threads.submit(() -> put(healthy, session, 2));
    var upgraded = answer.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(upgraded.status()).isEqualTo(201);
    assertThat(upgraded.json().get("status").asString()).isEqualTo("upgraded");
  }

  /**
   * Makes the server's transaction wait for the table, and freezes the server when the transaction
   * gets it.
   *
   * @param word a word of the statement that waits, which no statement of a job on the table has
   * @return the answer of the server, which comes when it gives up
   */
  private Future<TestServer.Reply> freezeWhileItWaitsFor(
      String table, String word, Callable<TestServer.Reply> call) throws SQLException {
    try (var connection = database.source().getConnection()) {
      connection.setAutoCommit(false);
      execute(connection, "LOCK TABLE " + table + " IN EXCLUSIVE MODE");
      var answer = threads.submit(call);
      await()
          .until(
              () ->
                  number(
                          "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
                              + " WHERE NOT granted AND relation = '"
                              + table
                              + "'::regclass AND query LIKE '%"
                              + word
                              + "%'")
                      > 0);
      network.freeze();
      connection.rollback();
      return answer;
    }
  }

  private static TestServer.Reply put(TestServer server) {
    return put(server, session(), 1);
  }

  /** The fields of a new registered session, but for its kind. */
  private static String session() {
    return "\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\""
        .formatted(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID());
  }

  private static TestServer.Reply put(TestServer server, String session, int kind) {
    return server.put("/sessions", "{%s,\"sessionKind\":%d}".formatted(session, kind));
  }

  private static TestServer.Reply publish(TestServer server) {
    return server.post("/streams/news/events", "{\"event\":\"tick\",\"data\":{}}");
  }

  private static TestServer.Reply deliver(TestServer server, int number, int step) {
    var body = pull("acme/app", number, step);
    return server.send(
        "POST",
        "/webhooks/github",
        Optional.of(body),
        "X-GitHub-Event",
        "pull_request",
        "X-GitHub-Delivery",
        UUID.randomUUID().toString(),
        "X-Hub-Signature-256",
        "sha256=" + hmac(body));
  }

  private static String hmac(String body) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(SECRET.getBytes(UTF_8), "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(body.getBytes(UTF_8)));
    } catch (java.security.GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private long number(String sql) {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
