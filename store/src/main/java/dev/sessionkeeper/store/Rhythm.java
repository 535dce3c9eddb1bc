package dev.sessionkeeper.store;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Decides when the next batch of calls may leave. For one thread at a time. */
public interface Rhythm {

  /**
   * Waits until a batch may leave.
   *
   * @param waiting counts the calls that would be in it
   */
  void begin(AtomicInteger waiting);

  /**
   * Records a new call, on the caller's thread.
   *
   * @param waiting how many calls wait now
   */
  default void arrived(int waiting) {}

  /**
   * Records that a batch was answered.
   *
   * @param size the number of its calls
   * @param others how many calls arrived before its callers could call again
   */
  void ended(int size, int others);

  /**
   * Returns whether callers send the next call as fast as they are answered, so that faster answers
   * would mean more calls.
   */
  default boolean areCallersHeldUp() {
    return false;
  }

  /** Returns a pacing without waits. */
  static Rhythm atOnce() {
    return new Distance(TimeSource.system(), Duration.ZERO, () -> false, () -> false);
  }

  /**
   * Returns a pacing with a minimum interval, for calls whose callers do not wait for answers:
   * under load batches are few and large.
   */
  static Rhythm apart(TimeSource time, Duration distance) {
    return new Distance(time, distance, () -> false, () -> false);
  }

  /**
   * Returns a pacing as {@link #apart(TimeSource, Duration)}, without a wait if no further call can
   * come, and with a longer one while other work is held up.
   *
   * @param isNobodyLeft returns whether no further call can come before the waiting ones are
   *     answered
   * @param areOthersHeldUp see {@link Pace#end(int, boolean)}
   */
  static Rhythm apart(
      TimeSource time,
      Duration distance,
      BooleanSupplier isNobodyLeft,
      BooleanSupplier areOthersHeldUp) {
    return new Distance(time, distance, isNobodyLeft, areOthersHeldUp);
  }

  /**
   * Returns a pacing that waits briefly for callers that were just answered and will call again.
   */
  static Rhythm together(TimeSource time) {
    return new Gathering(time);
  }

  /** A minimum interval between the beginnings of two batches. */
  final class Distance implements Rhythm {
    private final Pace pace;
    private final BooleanSupplier isNobodyLeft;
    private final BooleanSupplier areOthersHeldUp;
    private volatile @Nullable Thread sleeper;

    Distance(
        TimeSource time,
        Duration distance,
        BooleanSupplier isNobodyLeft,
        BooleanSupplier areOthersHeldUp) {
      this.pace = Pace.of(time, distance);
      this.isNobodyLeft = isNobodyLeft;
      this.areOthersHeldUp = areOthersHeldUp;
    }

    @Override
    public void begin(AtomicInteger waiting) {
      sleeper = Thread.currentThread();
      pace.begin(isNobodyLeft);
      sleeper = null;
    }

    @Override
    public void arrived(int waiting) {
      var thread = sleeper;
      if (thread != null && isNobodyLeft.getAsBoolean()) {
        LockSupport.unpark(thread);
      }
    }

    @Override
    public void ended(int size, int others) {
      pace.end(size, areOthersHeldUp.getAsBoolean());
    }
  }

  /**
   * Waits briefly for callers that were just answered, because they call again soon. Without the
   * wait the first of them would leave alone and the others with the next batch: half the batch
   * size, for as many commits. The wait is a small part of the duration of a batch, and a single
   * caller never waits.
   */
  final class Gathering implements Rhythm {
    private static final int PART = 4;
    private static final long MOST_NANOS = Duration.ofMillis(2).toNanos();

    /** Callers count as held up from this number on. */
    private static final int MANY = 3;

    private static final double SHARE = 0.5;
    private static final double WEIGHT = 0.1;

    private final TimeSource time;
    private long began;
    private long ended;
    private long took;
    private double share;
    private volatile boolean areHeldUp;
    private volatile int expected = 1;
    private volatile @Nullable Thread gatherer;

    Gathering(TimeSource time) {
      this.time = time;
    }

    @Override
    public void begin(AtomicInteger waiting) {
      long patience = Math.min(took / PART, MOST_NANOS);
      gatherer = Thread.currentThread();
      for (long left = patience - (time.nanoTime() - ended);
          waiting.get() < expected && left > 0;
          left = patience - (time.nanoTime() - ended)) {
        LockSupport.parkNanos(left);
      }
      gatherer = null;
      began = time.nanoTime();
    }

    @Override
    public void arrived(int waiting) {
      var thread = gatherer;
      if (thread != null && waiting >= expected) {
        LockSupport.unpark(thread);
      }
    }

    @Override
    public void ended(int size, int others) {
      long now = time.nanoTime();
      took = now - began;
      share += WEIGHT * (took / (double) Math.max(1, now - ended) - share);
      areHeldUp = share > SHARE && size + others >= MANY;
      ended = now;
      expected = size + others;
    }

    @Override
    public boolean areCallersHeldUp() {
      return areHeldUp;
    }
  }
}
