package dev.sessionkeeper.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.store.Database;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The statements for SQL Server in H2's MSSQLServer mode: their syntax, their parameters and what
 * they change one after the other. H2 ignores the lock hints, so nothing here says how two sessions
 * of a real SQL Server wait for each other.
 */
public class SqlServerJobLeasesTest {
  private static final Schedule HOURLY = Schedule.every(Duration.ofHours(1));
  private final DataSource source = h2();
  private final Database database = Database.of(source);
  private final JobLeases first = leases("first");
  private final JobLeases second = leases("second");

  @BeforeEach
  void aDueJob() throws Exception {
    execute(
        "CREATE ALIAS IF NOT EXISTS SYSUTCDATETIME FOR 'dev.sessionkeeper.jobs.SqlServerJobLeasesTest.now'");
    for (var statement : script().split(";\\s*\n", -1)) {
      if (!statement.isBlank()) {
        execute(statement);
      }
    }
    first.register("job", HOURLY);
    execute("UPDATE keeper.job SET next_run_at = DATEADD(hour, -1, next_run_at)");
  }

  /** What SQL Server calls SYSUTCDATETIME(). */
  public static java.time.LocalDateTime now() {
    return java.time.LocalDateTime.now(java.time.ZoneOffset.UTC)
        .truncatedTo(java.time.temporal.ChronoUnit.MICROS);
  }

  @Test
  void aDueJobIsTakenOnceCompletedAndNotDueAgain() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    assertThat(claim.lease().epoch()).isEqualTo(1);
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    assertThat(renews(first, claim)).isTrue();
    assertThat(fences(first, claim)).isTrue();
    assertThat(completes(first, claim)).isTrue();
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    assertThat(views().hold()).isEmpty();
    assertThat(views().lastSlot()).contains(claim.slot().at());
  }

  @Test
  void aLeaseThatRanOutIsTakenOverAndItsOwnerCanChangeNothing() throws Exception {
    var late = first.acquire("job", HOURLY).orElseThrow();
    execute("UPDATE keeper.job SET lease_until = DATEADD(hour, -1, lease_until)");
    var taken = second.acquire("job", HOURLY).orElseThrow();
    assertThat(taken.formerOwner()).contains("first");
    assertThat(taken.attempts()).isEqualTo(1);
    assertThat(renews(first, late)).isFalse();
    assertThat(fences(first, late)).isFalse();
    assertThat(completes(first, late)).isFalse();
    assertThat(first.fail(late.lease(), "late", Duration.ZERO)).isFalse();
    assertThat(first.release(late.lease())).isFalse();
    assertThat(views().hold().orElseThrow().owner()).isEqualTo("second");
  }

  @Test
  void aFailureKeepsTheGridAndARequestGoesBeforeIt() {
    var claim = first.acquire("job", HOURLY).orElseThrow();
    assertThat(first.fail(claim.lease(), "boom", Duration.ofHours(3))).isTrue();
    assertThat(second.acquire("job", HOURLY)).isEmpty();
    assertThat(views().attempts()).isEqualTo(1);
    assertThat(table().request("job", Optional.empty())).isTrue();
    assertThat(second.acquire("job", HOURLY)).isPresent();
  }

  private boolean completes(JobLeases leases, Claim claim) {
    return database.inTransaction(
        c -> leases.complete(c, claim.lease(), claim.slot(), HOURLY.next(claim.slot())));
  }

  private boolean renews(JobLeases leases, Claim claim) {
    return database.withConnection(c -> leases.renew(c, claim.lease()));
  }

  private boolean fences(JobLeases leases, Claim claim) {
    return database.inTransaction(c -> leases.fence(c, claim.lease()));
  }

  private JobView views() {
    return table().views(Optional.of("job")).get(0);
  }

  private JobTable table() {
    return new JobTable(database, new SqlServerJobDialect());
  }

  private JobLeases leases(String owner) {
    var options = JobOptions.defaults().owner(Owner.of(owner));
    return new JobLeases(database, new SqlServerJobDialect(), options);
  }

  private void execute(String sql) throws Exception {
    try (var connection = source.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String script() throws IOException {
    try (var in = Jobs.class.getResourceAsStream("/db/sqlserver/jobs.sql")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static DataSource h2() {
    var source = new JdbcDataSource();
    source.setURL(
        "jdbc:h2:mem:"
            + UUID.randomUUID()
            + ";MODE=MSSQLServer;DB_CLOSE_DELAY=-1;DATABASE_TO_UPPER=false;CASE_INSENSITIVE_IDENTIFIERS=true");
    return source;
  }
}
