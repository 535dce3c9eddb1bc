package dev.sessionkeeper.store;

import dev.sessionkeeper.KeeperException;
import java.time.Duration;
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
 */
public final class Migrations {
  /** The time limit of a statement: creating an index on a large table takes long. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private Migrations() {}

  /**
   * Applies the missing migrations of a module: {@code store}, {@code queues}, {@code jobs}, {@code
   * registry}, …
   *
   * @throws KeeperException.Misconfigured if a newer release has migrated the tables already
   */
  public static void apply(DataSource source, String module) {
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
    } catch (FlywayException e) {
      throw new KeeperException.Misconfigured(
          "The tables of " + module + " could not be brought up to date: " + e.getMessage(), e);
    }
  }

  /** This release does not know the constraints of a newer one, and must not write its tables. */
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
