package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Remembers the rounds of workers, so that a worker that lost the answer gets the same result again
 * from any server.
 */
interface WorkLog {
  /** How long rounds are remembered. */
  Duration KEPT = Duration.ofMinutes(10);

  /** Names a round. Ids of one credential mean nothing to another one. */
  record Round(QueueName queue, String credential, String requestId) {}

  /**
   * The result of a round.
   *
   * @param outcomes of the settlements, in their order
   * @param leaseIds of the sessions that the round handed out, in their order
   */
  record Result(List<WorkAnswer.Outcome> outcomes, List<String> leaseIds) {}

  Optional<Result> find(Round round);

  /**
   * Remembers the result for all servers. The last moments may be missing after a crash of the
   * store, which voids the leases of the round as well.
   *
   * @return false if another server has finished the same round before
   */
  boolean add(Round round, Result result);

  /** Adds leases to the stored result of a round whose settlements were stored first. */
  void complete(Round round, Result result);
}
