package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.time.TimeSource;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every process of the database is frozen: connections stay open, but nothing answers. */
class FrozenDatabaseTest {
  /**
   * The longest time to an answer: two seconds for a connection, eight for a statement, and some
   * for a busy machine.
   */
  private static final Duration END = Duration.ofSeconds(14);

  private EmbeddedPostgres postgres;
  private TestServer server;

  @BeforeEach
  void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    server = TestServer.start("", store());
  }

  private Map<String, String> store() {
    return Map.of(
        "KEEPER_STORE_URL", postgres.jdbcUrl(),
        "KEEPER_STORE_USER", postgres.user(),
        "KEEPER_STORE_PASSWORD", postgres.password());
  }

  @AfterEach
  void stop() throws Exception {
    signal("-CONT");
    server.close();
    postgres.close();
  }

  private record Ended(TestServer.Reply reply, Duration took) {}

  @Test
  @Timeout(120)
  void callsEndInTimeWithRetryAfterAndWorkAgainWhenTheDatabaseGoesOn() throws Exception {
    var calls = new LinkedHashMap<String, Callable<TestServer.Reply>>();
    calls.put("queues", () -> server.get("/queues"));
    calls.put("put", this::put);
    calls.put("sessions", () -> server.get("/sessions?limit=1"));
    calls.put("proof", () -> server.get("/usages/proof"));
    calls.put("jobs", () -> server.get("/jobs"));
    calls.put(
        "publish", () -> server.post("/streams/news/events", "{\"event\":\"tick\",\"data\":{}}"));
    for (var call : calls.values()) {
      assertThat(call.call().status()).isLessThan(300);
    }
    signal("-STOP");
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var ended = new LinkedHashMap<String, Future<Ended>>();
      calls.forEach((name, call) -> ended.put(name, threads.submit(() -> timed(call))));
      for (var call : ended.entrySet()) {
        var end = call.getValue().get();
        assertThat(end.took()).as(call.getKey()).isLessThan(END);
        assertThat(end.reply().status()).as(call.getKey()).isEqualTo(503);
        assertThat(end.reply().header("Retry-After")).as(call.getKey()).isNotBlank();
        assertThat(end.reply().problem()).isIn("unavailable", "outcome-unknown");
      }
    }
    signal("-CONT");
    for (var call : calls.values()) {
      await().until(() -> call.call().status() < 300);
    }
  }

  /** A request that is given up in time must not leave its connection occupied for ever. */
  @Test
  @Timeout(
      value = 60,
      threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // A read cannot be interrupted.
  void aStatementEndsAlthoughTheDatabaseNeverAnswers() throws Exception {
    var config =
        ReadConfig.from(
            new ConfigSources("keeper.yaml", "", Path.of("").toAbsolutePath(), store(), Map.of()));
    try (var engine = OpenEngine.open(config, TimeSource.system());
        var connection = engine.database().orElseThrow().getConnection();
        var statement = connection.createStatement()) {
      statement.execute("SELECT 1");
      signal("-STOP");
      assertThatThrownBy(() -> statement.execute("SELECT 1"))
          .isInstanceOf(SQLException.class)
          .hasRootCauseInstanceOf(SocketTimeoutException.class);
      signal("-CONT");
    }
  }

  private TestServer.Reply put() {
    return server.put(
        "/sessions",
        "{\"userObjectId\":\"%s\",\"tenantObjectId\":\"%s\",\"capacityId\":\"%s\",\"sessionKind\":1}"
            .formatted(UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID()));
  }

  private static Ended timed(Callable<TestServer.Reply> call) throws Exception {
    var time = TimeSource.system();
    long started = time.nanoTime();
    var reply = call.call();
    return new Ended(reply, time.since(started));
  }

  private void signal(String signal) throws IOException, InterruptedException {
    var main = ProcessHandle.of(postgres.pid()).orElseThrow();
    var command = new ArrayList<>(List.of("kill", signal));
    Stream.concat(Stream.of(main), main.descendants())
        .forEach(process -> command.add(Long.toString(process.pid())));
    new ProcessBuilder(command).start().waitFor();
  }
}
