package dev.sessionkeeper.server.bulk;

import dev.sessionkeeper.server.json.RawJson;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A bulk run, as the API shows it.
 *
 * @param queue left out if the run replays events to the bots of several queues
 * @param state running, stopped, finished or failed
 * @param total the number that the dry run counted
 * @param done how many it has examined
 * @param changed how many it has changed
 */
record BulkRun(
    UUID id,
    String act,
    Optional<String> queue,
    RawJson filter,
    String actor,
    String reason,
    String state,
    long total,
    long done,
    long changed,
    Optional<String> lastError,
    Instant createdAt,
    Instant updatedAt,
    Optional<Instant> finishedAt) {

  /** The newest runs. */
  record Listing(List<BulkRun> runs) {}
}
