package dev.sessionkeeper.testkit;

import java.time.Duration;

/**
 * The rate of each fault, as a part of all calls from 0 to 1.
 *
 * @param unavailable the call fails before it has taken effect
 * @param lostAnswers a send or settlement takes effect, but its answer gets lost
 * @param repeatedSends a send arrives twice, as over a network that repeats it
 * @param lostLocks the lease is lost when its owner receives, settles or renews
 * @param delays a call is delayed
 * @param longestDelay the longest delay
 */
public record Faults(
    double unavailable,
    double lostAnswers,
    double repeatedSends,
    double lostLocks,
    double delays,
    Duration longestDelay) {
  public Faults {
    requirePart("unavailable", unavailable);
    requirePart("lostAnswers", lostAnswers);
    requirePart("repeatedSends", repeatedSends);
    requirePart("lostLocks", lostLocks);
    requirePart("delays", delays);
  }

  /** Returns no random faults; only those requested by name happen. */
  public static Faults none() {
    return new Faults(0, 0, 0, 0, 0, Duration.ZERO);
  }

  /** Returns a moderate rate of every fault but delays. */
  public static Faults some() {
    return new Faults(0.05, 0.02, 0.05, 0.02, 0, Duration.ZERO);
  }

  public Faults withUnavailable(double part) {
    return new Faults(part, lostAnswers, repeatedSends, lostLocks, delays, longestDelay);
  }

  public Faults withLostAnswers(double part) {
    return new Faults(unavailable, part, repeatedSends, lostLocks, delays, longestDelay);
  }

  public Faults withRepeatedSends(double part) {
    return new Faults(unavailable, lostAnswers, part, lostLocks, delays, longestDelay);
  }

  public Faults withLostLocks(double part) {
    return new Faults(unavailable, lostAnswers, repeatedSends, part, delays, longestDelay);
  }

  public Faults withDelays(double part, Duration longest) {
    return new Faults(unavailable, lostAnswers, repeatedSends, lostLocks, part, longest);
  }

  private static void requirePart(String name, double part) {
    if (part < 0 || part > 1) {
      throw new IllegalArgumentException(name + " must be 0 to 1, was " + part);
    }
  }
}
