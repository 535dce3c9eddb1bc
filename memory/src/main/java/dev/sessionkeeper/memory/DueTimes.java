package dev.sessionkeeper.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Remembers when something must be looked at: leases that end, retries that are due, messages that
 * expire.
 *
 * <p>Times are rounded up to milliseconds and things of one millisecond share a bucket, so adding
 * and removing cost the same for ten sessions and for a million. Each thing is registered once, for
 * its earliest time; a time that moves later is left alone, and whoever looks too early registers
 * it again. A few buckets used lately stay although they are empty, because sessions that come and
 * go within one millisecond would make and drop the same bucket each time. Not safe for threads:
 * guarded by the lock of its owner.
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

  /** Nothing is due before this moment; {@link Ticks#NEVER} when nothing is registered. */
  long next() {
    return next;
  }

  /** Whether the thing will be looked at no later than this. */
  static boolean isRegistered(Due thing, long moment) {
    var bucket = thing.dueBucket;
    return bucket != null && bucket.tick <= tickOf(moment);
  }

  /** Looks at the thing no later than at this moment (rounded up to a millisecond). */
  void register(T thing, long moment) {
    if (isRegistered(thing, moment)) {
      return;
    }
    forget(thing);
    var bucket = bucketOf(tickOf(moment));
    thing.dueBucket = bucket;
    thing.dueBefore = bucket.last;
    if (bucket.last == null) {
      bucket.first = thing;
    } else {
      bucket.last.dueAfter = thing;
    }
    bucket.last = thing;
  }

  void forget(T thing) {
    var bucket = thing.dueBucket;
    if (bucket == null) {
      return;
    }
    unlink(thing, bucket);
    if (bucket.first == null && recent[placeOf(bucket.tick)] != bucket) {
      drop(bucket);
    }
  }

  /** Takes out everything whose time has come, earliest first. */
  List<T> takeUntil(long now) {
    var due = new ArrayList<T>();
    while (next() <= now) {
      var bucket = buckets.firstEntry().getValue();
      while (bucket.first != null) {
        due.add(type.cast(bucket.first));
        unlink(bucket.first, bucket);
      }
      drop(bucket);
    }
    return due;
  }

  private static void unlink(Due thing, Bucket bucket) {
    if (thing.dueBefore == null) {
      bucket.first = thing.dueAfter;
    } else {
      thing.dueBefore.dueAfter = thing.dueAfter;
    }
    if (thing.dueAfter == null) {
      bucket.last = thing.dueBefore;
    } else {
      thing.dueAfter.dueBefore = thing.dueBefore;
    }
    thing.dueBucket = null;
    thing.dueBefore = null;
    thing.dueAfter = null;
  }

  private Bucket bucketOf(long tick) {
    // Neighbours in time mostly share a bucket: a batch expires in one millisecond.
    int place = placeOf(tick);
    var known = recent[place];
    if (known != null && known.tick == tick) {
      return known;
    }
    var bucket = buckets.computeIfAbsent(tick, Bucket::new);
    next = Math.min(next, tick * TICK);
    recent[place] = bucket;
    if (known != null && known.first == null) {
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

  /** What is due in one millisecond, in the order it was registered. */
  static final class Bucket {
    final long tick;
    @Nullable Due first;
    @Nullable Due last;

    Bucket(long tick) {
      this.tick = tick;
    }
  }
}
