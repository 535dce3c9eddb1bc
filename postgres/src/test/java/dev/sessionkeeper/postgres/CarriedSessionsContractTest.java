package dev.sessionkeeper.postgres;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The whole contract once more, with sessions carried in memory from the first one on. */
class CarriedSessionsContractTest extends QueueProviderContract {
  private static TestDatabase database;

  @BeforeAll
  static void start() {
    database = TestDatabase.start();
    Migrations.apply(database.pool(), "queues");
  }

  @AfterAll
  static void stop() {
    database.close();
  }

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return PostgresQueueProvider.create(
        database.pool(), PostgresOptions.ofDefaults().withoutMigration().withCarryFrom(0), time);
  }
}
