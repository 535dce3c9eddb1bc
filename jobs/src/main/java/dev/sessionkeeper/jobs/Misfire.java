package dev.sessionkeeper.jobs;

/** Decides about slots that passed while no node ran the job. */
public sealed interface Misfire {
  /** One run makes up for all of them. For work that looks at what is there, such as metering. */
  record Coalesce() implements Misfire {}

  /** They are dropped and counted; the newest slot is run. */
  record Skip() implements Misfire {}

  /** Each is run, oldest first, but no more than the newest so many; older ones are dropped. */
  record All(int max) implements Misfire {
    public All {
      if (max < 1) {
        throw new IllegalArgumentException("max must be at least 1, was " + max);
      }
    }
  }

  /** As kept in the job's row, for people. */
  default String text() {
    return switch (this) {
      case Coalesce coalesce -> "coalesce";
      case Skip skip -> "skip";
      case All every -> "all(" + every.max() + ")";
    };
  }
}
