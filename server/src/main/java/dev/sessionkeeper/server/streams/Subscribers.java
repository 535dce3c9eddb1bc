package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import java.util.Set;

/**
 * Bounds the number of named subscribers: each has a cursor that is kept. Only names that were used
 * within the retention of streams count, because events behind an older cursor are gone anyway.
 */
interface Subscribers {

  /**
   * Notes that a credential reads a stream under this name.
   *
   * @throws ProblemException 409 {@code subscriber-limit} if the name is new and the stream or the
   *     credential has as many as allowed
   */
  void admit(String stream, String name, String credential);

  /**
   * As {@link #admit}, and from now on the position of the subscriber moves by acknowledgement
   * only.
   */
  void admitAcknowledging(String stream, String name, String credential);

  /** The names on a stream whose positions move by acknowledgement only. */
  Set<String> acknowledging(String stream);

  /** The limits, and the numbers they are compared with. */
  record Limits(int perStream, int perCredential) {

    /** Refuses a new name that is one too many. */
    void require(long ofStream, long ofCredential) {
      if (ofStream >= perStream) {
        throw refusal("The stream", "max_subscribers", perStream);
      }
      if (ofCredential >= perCredential) {
        throw refusal("This credential", "max_subscribers_per_credential", perCredential);
      }
    }

    private static ProblemException refusal(String subject, String limit, int allowed) {
      return ProblemType.SUBSCRIBER_LIMIT
          .with(
              "%s has %d named subscribers already; use one of their names, or raise streams.%s"
                  .formatted(subject, allowed, limit))
          .and("limit", limit)
          .and("allowed", allowed)
          .toException();
    }
  }
}
