package dev.sessionkeeper.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.KeeperException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
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
  void aCopiedDatabaseHasTheTablesOfItsTemplate() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      try (var connection = postgres.createDatabase("migrated").getConnection();
          var statement = connection.createStatement()) {
        statement.execute("CREATE TABLE copied (n int)");
        statement.execute("INSERT INTO copied VALUES (7)");
      }
      try (var connection = postgres.copyDatabase("migrated", "copy").getConnection();
          var statement = connection.createStatement();
          var rows = statement.executeQuery("SELECT n FROM copied")) {
        rows.next();
        assertThat(rows.getInt(1)).isEqualTo(7);
      }
    }
  }

  @Test
  void anInterruptOfTheTerminalDoesNotReachIt() throws Exception {
    assumeThat(Path.of("/usr/bin/setsid")).isExecutable();
    try (var postgres = EmbeddedPostgres.start(data)) {
      var stat = Files.readString(Path.of("/proc/" + postgres.pid() + "/stat"));
      var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      assertThat(fields[2]).as("its process group").isEqualTo(String.valueOf(postgres.pid()));
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
  void itListensOnASocketThatNoOtherUserCanReachAndOnNoPort() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SHOW listen_addresses")).isEmpty();
      assertThatThrownBy(
              () -> DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), "wrong"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
      assertThat(modeOf(data)).isEqualTo("rwx------");
      assertThat(modeOf(data.resolve("run"))).isEqualTo("rwx------");
      assertThat(modeOf(data.resolve("postgres"))).isEqualTo("rwx------");
      for (var file : List.of("password", "admin-password", "postgres.log", "lock")) {
        assertThat(modeOf(data.resolve(file))).as(file).isEqualTo("rw-------");
      }
    }
  }

  @Test
  void aFolderThatOthersCouldEnterIsClosedToThem() throws Exception {
    var wide = Files.createDirectory(data.resolve("wide"));
    Files.setPosixFilePermissions(wide, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (var postgres = EmbeddedPostgres.start(wide)) {
      assertThat(postgres.pid()).isPositive();
      assertThat(modeOf(wide)).isEqualTo("rwx------");
    }
  }

  @Test
  void theRoleOfKeeperIsNoSuperuser() throws Exception {
    try (var postgres = EmbeddedPostgres.start(data)) {
      assertThat(read(postgres, "SHOW is_superuser")).isEqualTo("off");
      assertThatThrownBy(() -> run(postgres, "COPY (SELECT 1) TO PROGRAM 'true'"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("permission denied");
      assertThatThrownBy(() -> read(postgres, "SELECT pg_read_file('/etc/hostname')"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("permission denied");
    }
  }

  @Test
  void thePasswordIsNotGivenToAnotherProgramOnItsPort() throws Exception {
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync();
        var thief = new AskForClearPassword()) {
      var url = postgres.jdbcUrl().replaceFirst(":\\d+/", ":" + thief.port() + "/");

      assertThatThrownBy(() -> DriverManager.getConnection(url, postgres.user(), "secret"))
          .isInstanceOf(SQLException.class);
      assertThat(thief.stolen()).doesNotContain("secret");
    }
  }

  @Test
  void theDatabaseDoesNotSeeTheEnvironmentOfKeeper() throws Exception {
    assumeThat(Path.of("/proc")).isDirectory();
    try (var postgres = EmbeddedPostgres.start(data)) {
      var environment = Files.readString(Path.of("/proc/" + postgres.pid() + "/environ"));
      assertThat(environment.split("\0"))
          .allMatch(entry -> entry.matches("(LC_ALL|PATH|PG[A-Z_]+)=.*"));
    }
  }

  @Test
  void startedByRootItRunsAsAnotherUser() throws Exception {
    assumeThat(CurrentUser.isRoot()).isTrue();
    try (var postgres = EmbeddedPostgres.temporaryWithoutSync()) {
      assertThat(Files.getOwner(Path.of("/proc/" + postgres.pid())).getName())
          .isIn("keeper", "postgres", "nobody");
    }
  }

  @Test
  void aTemporaryDatabaseEndsWithItsProcess() throws Exception {
    var child = new LeaveRunning(data);
    child.startTemporaryAndTerminate();

    await().atMost(Duration.ofSeconds(20)).until(() -> !TerminateProcess.isRunning(child.pid()));
  }

  @Test
  void aDatabaseCanBeClosedWhileItsProcessEnds() throws Exception {
    var child = new LeaveRunning(data);
    child.startAndTerminateWhileClosing();

    assertThat(child.last()).isEqualTo("closed");
  }

  @Test
  void threadsOfOneProcessFindTheProgramsAtTheSameTime() throws Exception {
    try (var threads = Executors.newFixedThreadPool(4)) {
      var found = threads.invokeAll(Collections.<Callable<Path>>nCopies(8, UnpackBinaries::once));
      for (var one : found) {
        assertThat(one.get()).isDirectory();
      }
    }
  }

  @Test
  void aPathThatIsTooLongForASocketIsNoObstacle() throws Exception {
    var deep = data.resolve("x".repeat(60)).resolve("y".repeat(60));
    try (var postgres = EmbeddedPostgres.start(deep)) {
      assertThat(read(postgres, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void aKilledDatabaseIsStartedAgainAtTheSamePlaceWithEverythingCommitted() throws Exception {
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
      assertThat(TerminateProcess.isRunning(orphan.pid())).isFalse();
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
      folder = Path.of(readAsAdmin(postgres, "SHOW data_directory")).getParent();
      assertThat(folder).exists();
    }
    assertThat(folder).doesNotExist();
  }

  private static String modeOf(Path path) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
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
    return read(postgres.dataSource(), sql);
  }

  private static String readAsAdmin(EmbeddedPostgres postgres, String sql) throws SQLException {
    return read(postgres.adminDataSource(), sql);
  }

  private static String read(DataSource source, String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
