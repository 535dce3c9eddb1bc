package dev.sessionkeeper.postgres;

/** The whole contract, with sessions cached in memory from the first one on. */
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
