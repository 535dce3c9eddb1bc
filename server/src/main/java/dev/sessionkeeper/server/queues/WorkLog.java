package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the results of work requests, so that a worker that lost an answer gets the same result
 * again from any server.
 */
interface WorkLog {
  /** How long results are kept. */
  Duration KEPT = Duration.ofMinutes(10);

  /** Identifies a work request. Ids of different credentials are unrelated. */
  record Round(QueueName queue, String credential, String requestId) {}

  /**
   * The result of a work request.
   *
   * @param outcomes of the settlements, in their order
   * @param leaseIds of the accepted sessions, in their order
   */
  record Result(List<WorkAnswer.Outcome> outcomes, List<String> leaseIds) {}

  Optional<Result> find(Round round);

  /**
   * Stores the result for all servers. A crash of the store may lose the newest results, whose
   * leases it voids as well.
   *
   * @return false if another server has stored the same request before
   */
  boolean add(Round round, Result result);

  /** Adds the leases to a result that was stored before the sessions were accepted. */
  void complete(Round round, Result result);
}
