package dev.sessionkeeper.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers when an object must be checked: leases that end, retries that are due, messages that
 * expire.
 *
 * <p>Times are rounded up to milliseconds and objects of one millisecond share a bucket, so adding
 * and removing cost the same for ten sessions and for a million. Each object is registered once,
 * for its earliest time; if its time moves later, the registration stays, and the early check
 * registers it again. A few recent buckets stay although they are empty, because short-lived
 * sessions would otherwise create and drop the same bucket each time. Not thread-safe: guarded by
 * the lock of its owner.
 */
final class DueTimes<T extends Due> {
  private static final long TICK = 1_000_000;
  private static final int RECENT = 8;

  private final Class<T> type;
  private final TreeMap<Long, Bucket> buckets = new TreeMap<>();
  private final @Nullable Bucket[] recent = new Bucket[RECENT];
  private long next = Ticks.NEVER;

  DueTimes(Class<T> type) {
    this.type = type;
  }

  /**
   * Returns the moment before which nothing is due; {@link Ticks#NEVER} if nothing is registered.
   */
  long next() {
    return next;
  }

  /** Returns whether a check of the object is registered for this moment or earlier. */
  static boolean isRegistered(Due thing, long moment) {
    var bucket = thing.dueBucket;
    return bucket != null && bucket.tick <= tickOf(moment);
  }

  /** Registers a check of the object no later than this moment (rounded up to a millisecond). */
  void register(T thing, long moment) {
    if (isRegistered(thing, moment)) {
      return;
    }
    forget(thing);
    var bucket = bucketOf(tickOf(moment));
    thing.dueBucket = bucket;
    thing.duePlace = bucket.things.add(thing);
  }

  void forget(T thing) {
    var bucket = thing.dueBucket;
    if (bucket == null) {
      return;
    }
    bucket.things.remove(thing, thing.duePlace);
    thing.dueBucket = null;
    if (bucket.things.isEmpty() && recent[placeOf(bucket.tick)] != bucket) {
      drop(bucket);
    }
  }

  /** Removes and returns all due objects, earliest first. */
  List<T> takeUntil(long now) {
    var due = new ArrayList<T>();
    while (next() <= now) {
      var bucket = buckets.firstEntry().getValue();
      while (!bucket.things.isEmpty()) {
        var thing = bucket.things.removeFirst();
        thing.dueBucket = null;
        due.add(type.cast(thing));
      }
      drop(bucket);
    }
    return due;
  }

  private Bucket bucketOf(long tick) {
    // Objects registered one after the other usually share a bucket: a batch expires in one
    // millisecond.
    int place = placeOf(tick);
    var known = recent[place];
    if (known != null && known.tick == tick) {
      return known;
    }
    var bucket = buckets.computeIfAbsent(tick, Bucket::new);
    next = Math.min(next, tick * TICK);
    recent[place] = bucket;
    if (known != null && known.things.isEmpty()) {
      drop(known);
    }
    return bucket;
  }

  private void drop(Bucket bucket) {
    buckets.remove(bucket.tick);
    int place = placeOf(bucket.tick);
    if (recent[place] == bucket) {
      recent[place] = null;
    }
    if (next == bucket.tick * TICK) {
      next = buckets.isEmpty() ? Ticks.NEVER : buckets.firstKey() * TICK;
    }
  }

  private static int placeOf(long tick) {
    return (int) tick & (RECENT - 1);
  }

  private static long tickOf(long moment) {
    return Math.ceilDiv(moment, TICK);
  }

  /** The objects that are due in one millisecond, in the order of their registration. */
  static final class Bucket {
    final long tick;
    final Row<Due> things = new Row<>((thing, place) -> thing.duePlace = place);

    Bucket(long tick) {
      this.tick = tick;
    }
  }
}
