package dev.sessionkeeper.jobs;

/** Decides about slots that passed while no node ran the job. */
public sealed interface Misfire {
  /**
   * One run makes up for all missed slots. For work that processes whatever is there, such as
   * metering.
   */
  record Coalesce() implements Misfire {}

  /** Missed slots are dropped and counted; only the newest slot is run. */
  record Skip() implements Misfire {}

  /**
   * Each missed slot is run, oldest first, but at most the newest {@code max}; older ones are
   * dropped.
   */
  record All(int max) implements Misfire {
    public All {
      if (max < 1) {
        throw new IllegalArgumentException("max must be at least 1, was " + max);
      }
    }
  }

  /** Returns the text in the job's row, for people. */
  default String text() {
    return switch (this) {
      case Coalesce coalesce -> "coalesce";
      case Skip skip -> "skip";
      case All every -> "all(" + every.max() + ")";
    };
  }
}
