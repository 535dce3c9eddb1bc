package dev.sessionkeeper.postgres;

import dev.sessionkeeper.spi.QueueProvider;
import dev.sessionkeeper.testkit.QueueProviderContract;
import dev.sessionkeeper.time.TimeSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresQueueProviderTest extends QueueProviderContract {
  private static TestDatabase database;

  @BeforeAll
  static void start() {
    database = TestDatabase.start();
  }

  @AfterAll
  static void stop() {
    database.close();
  }

  @Override
  protected QueueProvider createProvider(TimeSource time) {
    return PostgresQueueProvider.create(database.pool(), options().withoutMigration(), time);
  }

  PostgresOptions options() {
    return PostgresOptions.ofDefaults();
  }
}
