package dev.sessionkeeper.store;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** When the next group of calls may leave. For one thread at a time. */
public interface Rhythm {

  /** Waits until a group may leave; {@code waiting} counts the calls that would be in it. */
  void begin(AtomicInteger waiting);

  /** A call has come; so many wait now. On the caller's thread. */
  default void arrived(int waiting) {}

  /** A group of this size is answered; so many others had come before its callers could be back. */
  void ended(int size, int others);

  /**
   * Returns whether callers come as fast as they are answered, so that they would be more if that
   * were sooner.
   */
  default boolean areCallersHeldUp() {
    return false;
  }

  /** At once. */
  static Rhythm atOnce() {
    return new Distance(TimeSource.system(), Duration.ZERO, () -> false, () -> false);
  }

  /**
   * At a distance, for calls whose answers nobody waits for: under load groups are few and large.
   */
  static Rhythm apart(TimeSource time, Duration distance) {
    return new Distance(time, distance, () -> false, () -> false);
  }

  /**
   * As {@link #apart(TimeSource, Duration)}, but at once when nobody else will come, and further
   * while others are held up.
   *
   * @param isNobodyLeft asked while calls wait: whether no further one can come before these are
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

  /** With those who are just coming back, for callers that call again when they are answered. */
  static Rhythm together(TimeSource time) {
    return new Gathering(time);
  }

  /** A least distance between the beginnings of two groups. */
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
   * Callers that were just answered call again soon. Without a moment's wait the first of them
   * would leave alone and the others with the next group: half of what could leave at once, for as
   * many commits. The wait is a small part of what a group takes, and who is alone never waits.
   */
  final class Gathering implements Rhythm {
    private static final int PART = 4;
    private static final long MOST_NANOS = Duration.ofMillis(2).toNanos();

    /** From so many callers on, and this share of the time, they are held up. */
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
