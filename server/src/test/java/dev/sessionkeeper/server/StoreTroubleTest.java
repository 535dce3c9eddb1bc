package dev.sessionkeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each failure of the database has its own sentence: the cause's words, and what to do. */
class StoreTroubleTest {
  private final TestDatabase database = TestDatabase.create();

  /** Starts a server and returns its output until it ends. */
  private String startWith(String key, String value) {
    var environment = new HashMap<>(database.environment());
    environment.put("KEEPER_SERVER_PORT", "0");
    environment.put(key, value);
    var err = new ByteArrayOutputStream();
    var stream = new PrintStream(err, true, StandardCharsets.UTF_8);
    int code = new Serve(stream, stream).run(Optional.empty(), environment, Map.of());
    assertThat(code).isEqualTo(Serve.EXIT_UNAVAILABLE);
    return err.toString(StandardCharsets.UTF_8).strip();
  }

  private String url() {
    return String.valueOf(database.environment().get("KEEPER_STORE_URL"));
  }

  @Test
  void aWrongPassword() {
    assertThat(startWith("KEEPER_STORE_PASSWORD", "wrong"))
        .startsWith("Cannot connect to ")
        .contains("password authentication failed for user")
        .endsWith("Check store.user and store.password.")
        .hasLineCount(1);
  }

  @Test
  void aMissingDatabase() {
    var missing = url().replaceFirst("server_\\d+", "nowhere");
    assertThat(startWith("KEEPER_STORE_URL", missing))
        .contains("database \"nowhere\" does not exist")
        .endsWith("Create the database, or check its name in store.url.");
  }

  @Test
  void aRefusedPort() throws IOException {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    assertThat(startWith("KEEPER_STORE_URL", "jdbc:postgresql://127.0.0.1:" + port + "/db"))
        .startsWith("Cannot connect to 127.0.0.1:" + port + ": connection refused.");
  }

  @Test
  void anUnknownHost() {
    assertThat(startWith("KEEPER_STORE_URL", "jdbc:postgresql://nowhere.invalid/db?password=x"))
        .startsWith("Cannot connect to nowhere.invalid:5432: the host is unknown.")
        .doesNotContain("password=x");
  }

  @Test
  void aPasswordInTheEnvironmentIsNotWarnedOfAsOneInTheFile() {
    assertThat(startWith("KEEPER_STORE_PASSWORD", "wrong")).doesNotContain("Warning");
  }

  @Test
  void aServerIsNotReadyOnceANewerReleaseHasDroppedAFunctionThatItCalls() throws SQLException {
    try (var server = TestServer.start("", database.environment())) {
      execute(
          "CREATE FUNCTION keeper.of_the_next_release() RETURNS int LANGUAGE sql AS 'SELECT 1'");
      assertThat(server.get("/health/ready").status()).as("more functions").isEqualTo(200);
      execute("ALTER FUNCTION keeper.bucket_of(text) RENAME TO bucket_of_the_next_release");
      var health = server.get("/health/ready");
      assertThat(health.status()).isEqualTo(503);
      assertThat(health.body())
          .contains("newer release has dropped the function keeper.bucket_of(text)")
          .contains("Replace this server");
      assertThat(server.get("/health/live").status()).isEqualTo(200);
    }
  }

  @Test
  void whatNeedsADroppedFunctionIsUnavailableAndNotRefusedForGood() throws SQLException {
    try (var server = TestServer.start("", database.environment())) {
      server.put("/queues/q", "{\"mode\":\"ORDERED\"}");
      execute("ALTER FUNCTION keeper.send RENAME TO send_of_the_next_release");
      var refused =
          server.post("/queues/q/messages", "{\"messages\":[{\"sessionId\":\"s\",\"body\":1}]}");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.body()).contains("A newer release has changed the database");
    }
  }

  @Test
  void aServerIsNotReadyWhileNothingCanBeWritten() throws SQLException {
    try (var server = TestServer.start("", database.environment())) {
      assertThat(server.get("/health/ready").status()).isEqualTo(200);
      execute(
          """
          CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';
          END $$;
          CREATE TRIGGER disk_full BEFORE INSERT ON keeper.write_probe
            FOR EACH ROW EXECUTE FUNCTION disk_full();
          """);
      await().until(() -> server.get("/health/ready").status() == 503);
      assertThat(server.get("/health/ready").json().get("checks").get("store").asString())
          .contains("No space left on device", "Free space");

      execute("DROP TRIGGER disk_full ON keeper.write_probe");
      await().until(() -> server.get("/health/ready").status() == 200);
    }
  }

  @Test
  void aReadOnlyStandbyIsNotReady() throws SQLException {
    try (var server = TestServer.start("", database.environment())) {
      execute(
          "ALTER DATABASE "
              + url().replaceAll(".*/(\\w+).*", "$1")
              + " SET default_transaction_read_only = on");
      execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
              + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
      await().until(() -> server.get("/health/ready").body().contains("read-only transaction"));
      assertThat(server.get("/health/ready").status()).isEqualTo(503);
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = database.source().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
