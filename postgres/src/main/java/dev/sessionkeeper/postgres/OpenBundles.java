package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Bundles of which this process has read messages, while it reads a queue alone: which of these are
 * neither completed nor rows of their own.
 *
 * <p>The database knows better: a message may be completed there, or have become a row, and still
 * be open here for a moment. Then the statement that names it changes nothing, or says so.
 */
final class OpenBundles {
  /** As many messages as a bundle can have: a bit for each. */
  static final int MOST_MESSAGES = Long.SIZE;

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Long, Bundle> bundles = new TreeMap<>();

  /** A bundle as it was read. */
  static final class Bundle {
    private final long first;
    private final SessionId[] sessions;
    private long open;

    Bundle(long first, SessionId[] sessions, long done) {
      this.first = first;
      this.sessions = sessions;
      this.open = ~done & all(sessions.length);
    }

    private static long all(int count) {
      return -1L >>> (MOST_MESSAGES - count);
    }

    /** The bit of a message, if it is open; else zero. */
    private long bit(long sequence) {
      long place = sequence - first;
      return place < sessions.length ? open & (1L << place) : 0;
    }

    private long bitsOf(Set<SessionId> chosen) {
      long bits = 0;
      for (int i = 0; i < sessions.length; i++) {
        bits |= chosen.contains(sessions[i]) ? 1L << i : 0;
      }
      return bits & open;
    }
  }

  /** Completed messages of bundles, as bits, and those that are rows. */
  static final class Completed {
    private final TreeMap<Long, Long> masks = new TreeMap<>();
    final List<String> sessions = new ArrayList<>();
    final List<Long> sequences = new ArrayList<>();

    long[] firsts() {
      return masks.keySet().stream().mapToLong(Long::longValue).toArray();
    }

    long[] masks() {
      return masks.values().stream().mapToLong(Long::longValue).toArray();
    }
  }

  void add(Collection<Bundle> read) {
    locked(() -> read.forEach(bundle -> bundles.put(bundle.first, bundle)));
  }

  /** Bundles that have open messages of these sessions. */
  long[] of(Set<SessionId> chosen) {
    return firsts(bundle -> bundle.bitsOf(chosen) != 0);
  }

  long[] all() {
    return firsts(bundle -> true);
  }

  private long[] firsts(Predicate<Bundle> wanted) {
    lock.lock();
    try {
      return bundles.values().stream().filter(wanted).mapToLong(bundle -> bundle.first).toArray();
    } finally {
      lock.unlock();
    }
  }

  /** The open messages of these sessions are rows now. */
  void becameRows(Set<SessionId> chosen) {
    locked(
        () ->
            bundles
                .values()
                .removeIf(
                    bundle -> {
                      bundle.open &= ~bundle.bitsOf(chosen);
                      return bundle.open == 0;
                    }));
  }

  /** What is completed, told apart by how it is stored. */
  Completed tellApart(List<SettleWork> works) {
    var completed = new Completed();
    locked(
        () -> {
          for (var work : works) {
            for (var part : work.done()) {
              for (long sequence : part) {
                tellApart(work, sequence, completed);
              }
            }
          }
        });
    return completed;
  }

  private void tellApart(SettleWork work, long sequence, Completed completed) {
    var below = bundles.floorEntry(sequence);
    long bit = below == null ? 0 : below.getValue().bit(sequence);
    if (bit == 0) {
      completed.sessions.add(work.session().value());
      completed.sequences.add(sequence);
    } else {
      completed.masks.merge(below.getKey(), bit, (a, b) -> a | b);
    }
  }

  /** They are completed in the database. */
  void close(Completed completed) {
    locked(
        () ->
            completed.masks.forEach(
                (first, mask) ->
                    bundles.computeIfPresent(
                        first,
                        (key, bundle) -> {
                          bundle.open &= ~mask;
                          return bundle.open == 0 ? null : bundle;
                        })));
  }

  void clear() {
    locked(bundles::clear);
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }
}
