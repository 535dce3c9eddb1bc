package dev.sessionkeeper.jobs;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A fixed schedule: every multiple of the interval since 1970 is a slot. Neither the start nor the
 * length of a run shifts the slots.
 */
public record Schedule(Duration interval, Misfire misfire) {
  public Schedule {
    if (interval.compareTo(Duration.ofMillis(1)) < 0
        || interval.compareTo(Duration.ofDays(366)) > 0) {
      throw new IllegalArgumentException("interval must be 1 ms to 366 days, was " + interval);
    }
    if (interval.toNanos() % 1000 != 0) {
      throw new IllegalArgumentException("interval must be whole microseconds, was " + interval);
    }
  }

  /** Returns a schedule whose missed slots are coalesced. */
  public static Schedule every(Duration interval) {
    return new Schedule(interval, new Misfire.Coalesce());
  }

  public Schedule onMisfire(Misfire other) {
    return new Schedule(interval, other);
  }

  long intervalMicros() {
    return interval.toNanos() / 1000;
  }

  /**
   * Returns the slot of a run that starts now.
   *
   * @param next the oldest slot that was not run
   * @param now the time of the database
   */
  JobSlot slotAt(Instant next, Instant now) {
    if (next.isAfter(now)) {
      return new JobSlot(onGrid(now), 0, 0, true);
    }
    long missed = ChronoUnit.MICROS.between(next, now) / intervalMicros();
    return switch (misfire) {
      case Misfire.Coalesce coalesce -> new JobSlot(after(next, missed), missed, 0, false);
      case Misfire.Skip skip -> new JobSlot(after(next, missed), 0, missed, false);
      case Misfire.All every -> {
        long dropped = Math.max(0, missed - every.max() + 1);
        yield new JobSlot(after(next, dropped), 0, dropped, false);
      }
    };
  }

  /** Returns when the next slot is due. */
  Instant next(JobSlot slot) {
    return after(slot.at(), 1);
  }

  private Instant after(Instant slot, long count) {
    return slot.plus(Math.multiplyExact(count, intervalMicros()), ChronoUnit.MICROS);
  }

  private Instant onGrid(Instant now) {
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, now);
    return Instant.EPOCH.plus(micros - Math.floorMod(micros, intervalMicros()), ChronoUnit.MICROS);
  }
}
