package dev.sessionkeeper.jobs;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/**
 * One run of a job, from its history.
 *
 * @param missed earlier slots that the run made up for or dropped
 * @param progress the newest report of its progress
 */
public record JobRun(
    long epoch,
    String owner,
    Optional<Instant> slot,
    long missed,
    Instant startedAt,
    Optional<Instant> endedAt,
    Outcome outcome,
    Optional<String> error,
    Optional<String> progress) {
  /** The state of a run. */
  public enum Outcome {
    RUNNING,
    COMPLETED,
    FAILED,
    /** Its owner's lease expired; a later run took over. */
    ABANDONED,
    /** Its owner closed and released the job to another node. */
    HANDED_OVER;

    /** Returns the word for the table and the API. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Outcome of(String text) {
      return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
  }
}
