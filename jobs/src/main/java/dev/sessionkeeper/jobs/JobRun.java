package dev.sessionkeeper.jobs;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/**
 * One run of a job, from its history.
 *
 * @param missed earlier slots that it made up for or that were dropped
 * @param progress its newest word about how far it has come
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
  /** How a run ended. */
  public enum Outcome {
    RUNNING,
    COMPLETED,
    FAILED,
    /** Its owner's lease ran out; a later run took over. */
    ABANDONED,
    /** Its owner closed and let another one have it. */
    HANDED_OVER;

    /** As kept in the table and shown. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Outcome of(String text) {
      return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
  }
}
