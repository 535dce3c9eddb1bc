package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationState;

/**
 * Migrates the tables of a module. Forward only, under Flyway's lock, so that nodes may start
 * together.
 *
 * <p>All tables are in the schema {@code keeper}. Each module has its own scripts, in {@code
 * db/keeper/<module>}, and its own history, so that each module can be used without the others.
 *
 * <p>Flyway needs many statements to find that nothing is to be done, and a server has a dozen
 * modules. So this class remembers the history of tables that Flyway has brought up to date in this
 * process, and skips tables that have the same history.
 */
public final class Migrations {
  /** The time limit of a statement: creating an index on a large table takes long. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final Map<String, String> UP_TO_DATE = new ConcurrentHashMap<>();

  private Migrations() {}

  /**
   * Applies the missing migrations of a module: {@code store}, {@code queues}, {@code jobs}, {@code
   * registry}, …
   *
   * @throws KeeperException.Misconfigured if a newer release has migrated the tables already
   */
  public static void apply(DataSource source, String module) {
    if (history(source, module).filter(known -> known.equals(UP_TO_DATE.get(module))).isPresent()) {
      return;
    }
    try {
      var flyway =
          Flyway.configure(Migrations.class.getClassLoader())
              .dataSource(new PatientSource(source, LONGEST))
              .schemas("keeper")
              .createSchemas(true)
              .locations("classpath:db/keeper/" + module)
              .table("schema_history_" + module)
              .baselineOnMigrate(true)
              .baselineVersion("0")
              .load();
      refuseNewer(flyway, module);
      flyway.migrate();
      history(source, module).ifPresent(history -> UP_TO_DATE.put(module, history));
    } catch (FlywayException e) {
      throw new KeeperException.Misconfigured(
          "The tables of " + module + " could not be brought up to date: " + e.getMessage(), e);
    }
  }

  /** Returns the applied scripts with their checksums; empty if they cannot be read. */
  private static Optional<String> history(DataSource source, String module) {
    var query =
        "SELECT string_agg(concat_ws(' ', type, version, script, checksum, success), ', '"
            + " ORDER BY installed_rank) FROM keeper.\"schema_history_"
            + module
            + "\"";
    try (var connection = source.getConnection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(query)) {
      rows.next();
      return Optional.ofNullable(rows.getString(1));
    } catch (SQLException e) {
      // The table does not exist yet, or Flyway reports what is wrong.
      return Optional.empty();
    }
  }

  /**
   * Refuses tables of a newer release: this release does not know their constraints, and must not
   * write to them.
   */
  private static void refuseNewer(Flyway flyway, String module) {
    for (var migration : flyway.info().all()) {
      if (migration.getState() == MigrationState.FUTURE_SUCCESS) {
        var version = migration.getVersion();
        throw new KeeperException.Misconfigured(
            "The tables of %s have version %s, which this release does not know. Start a release that knows version %s, or restore a backup from before the upgrade"
                .formatted(module, version, version));
      }
    }
  }
}
