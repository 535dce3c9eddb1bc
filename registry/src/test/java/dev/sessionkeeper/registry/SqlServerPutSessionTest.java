package dev.sessionkeeper.registry;

import static dev.sessionkeeper.registry.TestDatabase.again;
import static dev.sessionkeeper.registry.TestDatabase.someone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.store.Database;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/**
 * The statements for SQL Server in H2's MSSQLServer mode: syntax, parameters and outcomes. H2 has
 * no filtered index, so a computed column stands in for it; it ignores the lock hints. With {@code
 * KEEPER_MSSQL_URL} set the same outcomes are asked of a real one.
 */
public class SqlServerPutSessionTest {
  @Test
  void onH2() throws Exception {
    var source = new JdbcDataSource();
    source.setURL(
        "jdbc:h2:mem:"
            + UUID.randomUUID()
            + ";MODE=MSSQLServer;DB_CLOSE_DELAY=-1;DATABASE_TO_UPPER=false;CASE_INSENSITIVE_IDENTIFIERS=true");
    execute(source, "CREATE SCHEMA keeper");
    execute(source, "CREATE ALIAS SYSUTCDATETIME FOR '" + getClass().getName() + ".now'");
    for (var statement : script().split(";\\s*\n", -1)) {
      if (statement.isBlank()) {
        continue;
      }
      execute(
          source,
          statement.contains("UNIQUE INDEX")
              ? """
                ALTER TABLE keeper.registered_session ADD active_key varchar(80)
                  AS (CASE WHEN ended_at IS NULL THEN CAST(user_id AS varchar) || CAST(capacity_id AS varchar)
                       ELSE CAST(session_id AS varchar) END);
                CREATE UNIQUE INDEX registered_session_active ON keeper.registered_session (active_key)
                """
              : statement);
    }
    outcomes(source);
  }

  @Test
  void onSqlServer() throws Exception {
    var url = System.getenv("KEEPER_MSSQL_URL");
    assumeThat(url).as("KEEPER_MSSQL_URL").isNotNull();
    var config = new HikariConfig();
    config.setJdbcUrl(url);
    try (var source = new HikariDataSource(config)) {
      outcomes(source);
    }
  }

  /** What SQL Server calls SYSUTCDATETIME(). */
  public static LocalDateTime now() {
    return LocalDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MICROS);
  }

  private static void outcomes(DataSource source) throws SQLException {
    var put = new SqlServerPutSession(Database.of(source), RegistryOptions.defaults());
    var request = someone(1);
    var created = put.put(request);
    assertThat(created).isInstanceOf(PutOutcome.Created.class);
    var first = ((PutOutcome.Created) created).session();
    assertThat(put.put(request)).isEqualTo(new PutOutcome.Existing(first));
    var upgraded = put.put(again(request, 3));
    assertThat(upgraded).isInstanceOf(PutOutcome.Upgraded.class);
    var second = ((PutOutcome.Upgraded) upgraded).session();
    assertThat(put.put(again(request, 2))).isEqualTo(new PutOutcome.Existing(second));
    var foreign =
        new SessionRequest(request.userObjectId(), UUID.randomUUID(), request.capacityId(), 3);
    assertThat(put.put(foreign)).isEqualTo(new PutOutcome.TenantMismatch());
    assertThat(ended(source, first.sessionId()))
        .isEqualTo(second.startedAt().atOffset(ZoneOffset.UTC).toLocalDateTime());
    execute(
        source,
        "UPDATE keeper.registered_session SET expires_at = started_at WHERE session_id = '"
            + second.sessionId()
            + "'");
    assertThat(put.put(request)).isInstanceOf(PutOutcome.Created.class);
  }

  private static LocalDateTime ended(DataSource source, UUID id) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT ended_at FROM keeper.registered_session WHERE session_id = '" + id + "'")) {
      rows.next();
      return rows.getObject(1, LocalDateTime.class);
    }
  }

  private static void execute(DataSource source, String sql) throws SQLException {
    try (var connection = source.getConnection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String script() throws IOException {
    try (var in = SessionRegistry.class.getResourceAsStream("/db/sqlserver/registry.sql")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
