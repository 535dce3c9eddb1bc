package dev.sessionkeeper.postgres.read;

import dev.sessionkeeper.postgres.row.FoundMessage;

/**
 * The message of a session that was retried while it was in a batch.
 *
 * @param attempts how many of its attempts have failed
 */
record FailedHead(long sequence, int attempts) {
  /** Returns the message with these attempts, if it is this one. */
  FoundMessage applyTo(FoundMessage found) {
    boolean isIt = found.sequence() == sequence && found.delivery().attempt() <= attempts;
    return isIt ? found.after(attempts) : found;
  }
}
