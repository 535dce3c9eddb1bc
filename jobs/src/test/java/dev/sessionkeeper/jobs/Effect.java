package dev.sessionkeeper.jobs;

/** Records a run's effect in a table, which fencing must protect. */
final class Effect {
  private Effect() {}

  static void of(JobContext context) {
    context.inFencedTransaction(
        connection -> {
          try (var statement =
              connection.prepareStatement("INSERT INTO effect (job, epoch) VALUES (?, ?)")) {
            statement.setString(1, context.job());
            statement.setLong(2, context.lease().epoch());
            return statement.executeUpdate();
          }
        });
  }
}
