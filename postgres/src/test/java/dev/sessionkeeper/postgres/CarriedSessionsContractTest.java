package dev.sessionkeeper.postgres;

/** The whole contract once more, with sessions carried in memory from the first one on. */
class CarriedSessionsContractTest extends PostgresQueueProviderTest {

  @Override
  PostgresOptions options() {
    return PostgresOptions.ofDefaults().withCarryFrom(0);
  }

  @Override
  protected String resultName() {
    return "postgres-carried";
  }
}
