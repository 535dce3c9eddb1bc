package dev.sessionkeeper.server.streams;

import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import java.util.Set;

/**
 * Limits the number of named subscribers, because each has a stored cursor. Only names used within
 * the retention of streams count; events behind an older cursor are deleted anyway.
 */
interface Subscribers {

  /**
   * Records that a credential reads a stream under this name.
   *
   * @throws ProblemException 409 {@code subscriber-limit} if the name is new and the limit of the
   *     stream or the credential is reached
   */
  void admit(String stream, String name, String credential);

  /**
   * Records the name as {@link #admit} does; from now on only acknowledgements move its position.
   */
  void admitAcknowledging(String stream, String name, String credential);

  /** Returns the subscribers of a stream whose positions move by acknowledgement only. */
  Set<String> acknowledging(String stream);

  /** The limits of subscribers. */
  record Limits(int perStream, int perCredential) {

    /** Refuses a new name if a limit is reached. */
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
