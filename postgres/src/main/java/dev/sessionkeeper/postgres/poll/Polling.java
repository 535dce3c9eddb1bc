package dev.sessionkeeper.postgres.poll;

import java.time.Duration;

/**
 * The objects through which the workers of one queue request polls and wait for their results.
 *
 * @param timer starts a poll at the earliest of the times it was set to
 * @param last the result of the last poll
 * @param changes signals each change of the queue
 * @param receivers counts consumers that wait for messages of a session they hold
 */
public record Polling(
    PollRequests requests,
    EarliestTimer timer,
    LastPoll last,
    ChangeSignal changes,
    WaitingReceivers receivers) {
  /** After this time another poll retries rows that a transaction had locked. */
  public static final Duration RETRY_LOCKED = Duration.ofMillis(10);
}
