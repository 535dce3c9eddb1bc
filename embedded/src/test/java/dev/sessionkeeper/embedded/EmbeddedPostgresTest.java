package dev.sessionkeeper.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedPostgresTest {
  @TempDir Path data;

  @Test
  void whatWasCommittedIsThereAfterARestart() throws Exception {
    try (var first = EmbeddedPostgres.start(data)) {
      run(first, "CREATE TABLE kept (n int)");
      run(first, "INSERT INTO kept VALUES (42)");
    }
    try (var second = EmbeddedPostgres.start(data)) {
      assertThat(read(second, "SELECT n FROM kept")).isEqualTo("42");
    }
  }

  @Test
  void itWaitsForTheDisk() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SHOW fsync")).isEqualTo("on");
      assertThat(read(postgres, "SHOW synchronous_commit")).isEqualTo("on");
    }
  }

  @Test
  void itListensOnLoopbackOnlyAndAsksForThePassword() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
      assertThatThrownBy(
              () -> DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), "wrong"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
      assertThat(Files.getPosixFilePermissions(data.resolve("password"))).hasSize(2);
    }
  }

  @Test
  void aKilledDatabaseIsStartedAgainOnTheSamePortWithEverythingCommitted() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      run(postgres, "CREATE TABLE kept (n int)");
      run(postgres, "INSERT INTO kept VALUES (7)");
      var url = postgres.jdbcUrl();
      long killed = postgres.pid();
      kill(killed);
      await().atMost(Duration.ofSeconds(30)).until(() -> postgres.pid() != killed);
      await()
          .atMost(Duration.ofSeconds(30))
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(read(postgres, "SELECT n FROM kept")).isEqualTo("7"));
      assertThat(postgres.jdbcUrl()).isEqualTo(url);
    }
  }

  @Test
  void aDatabaseThatAnotherProcessLeftRunningIsEndedAndTakenOver() throws Exception {
    var orphan = new LeaveRunning(data);
    orphan.startAndAbandon("CREATE TABLE kept (n int); INSERT INTO kept VALUES (3)");
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SELECT n FROM kept")).isEqualTo("3");
      assertThat(EndProcess.isRunning(orphan.pid())).isFalse();
    }
  }

  @Test
  void afterTheDeathOfBothTheNextStartRecovers() throws Exception {
    var orphan = new LeaveRunning(data);
    orphan.startAndAbandon("CREATE TABLE kept (n int); INSERT INTO kept VALUES (5)");
    kill(orphan.pid());
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SELECT n FROM kept")).isEqualTo("5");
    }
  }

  @Test
  void aFolderInUseIsRefusedWithOneSentence() {
    try (var first = EmbeddedPostgres.start(data)) {
      assertThat(first.pid()).isPositive();
      assertThatThrownBy(() -> EmbeddedPostgres.start(data))
          .isInstanceOf(KeeperException.Misconfigured.class)
          .hasMessageContaining("is in use by another process")
          .hasMessageContaining("--data");
    }
  }

  @Test
  void aFolderThatCannotBeWrittenIsRefusedWithOneSentence() throws Exception {
    var file = Files.createFile(data.resolve("file"));
    assertThatThrownBy(() -> EmbeddedPostgres.start(file.resolve("below")))
        .isInstanceOf(KeeperException.Misconfigured.class)
        .hasMessageContaining("cannot be written")
        .hasMessageContaining("--data");
  }

  @Test
  void aBrokenOffCreationIsBegunAnew() throws Exception {
    Files.createDirectories(data.resolve("postgres").resolve("base"));
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void aTemporaryDatabaseLeavesNothingBehind() throws Exception {
    Path folder;
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      folder = Path.of(read(postgres, "SHOW data_directory")).getParent();
      assertThat(folder).exists();
    }
    assertThat(folder).doesNotExist();
  }

  static void kill(long pid) throws Exception {
    new ProcessBuilder("kill", "-KILL", "" + pid).start().waitFor();
  }

  private static void run(EmbeddedPostgres postgres, String sql) throws SQLException {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String read(EmbeddedPostgres postgres, String sql) throws SQLException {
    try (var connection = postgres.dataSource().getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
