package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
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
  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Long, OpenBundle> bundles = new TreeMap<>();
  private final CompletionNotes notes = new CompletionNotes();
  private final AtomicLong lastNote = new AtomicLong();

  /** Nothing of them is open, but they may still be there. */
  private final Set<Long> leftOver = new HashSet<>();

  void add(Collection<OpenBundle> read) {
    locked(() -> read.forEach(bundle -> bundles.put(bundle.first, bundle)));
  }

  /** Bundles that have open messages of these sessions. */
  long[] of(Set<SessionId> chosen) {
    return firsts(bundle -> bundle.bitsOf(chosen) != 0);
  }

  /** Whether nothing is left of what was read. */
  boolean isEmpty() {
    lock.lock();
    try {
      return bundles.isEmpty() && leftOver.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  long[] all() {
    return firsts(bundle -> true);
  }

  private long[] firsts(Predicate<OpenBundle> wanted) {
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
        () -> {
          for (var bundle : List.copyOf(bundles.values())) {
            bundle.close(bundle.bitsOf(chosen));
            // It went when it was untied, unless its other messages were completed after that.
            if (forgetIfDone(bundle) && !bundle.isShared) {
              leftOver.add(bundle.first);
            }
          }
        });
  }

  private boolean forgetIfDone(OpenBundle bundle) {
    if (!bundle.isDone() || !bundles.remove(bundle.first, bundle)) {
      return false;
    }
    notes.release(bundle);
    return true;
  }

  /** The number of a settlement, which it keeps when it is repeated. */
  long nextNote() {
    return lastNote.incrementAndGet();
  }

  /** What is completed, told apart by how it is stored. */
  Completed tellApart(List<? extends Completions> works, long note) {
    var completed = new Completed(note);
    locked(
        () -> {
          for (var work : works) {
            for (var part : work.done()) {
              for (long sequence : part) {
                tellApart(work, sequence, completed);
              }
            }
          }
          completed.end(leftOver);
          completed.fold(notes.late());
          completed.over = notes.over();
        });
    return completed;
  }

  private void tellApart(Completions work, long sequence, Completed completed) {
    var below = bundles.floorEntry(sequence);
    if (below != null && below.getValue().isOpen(sequence)) {
      completed.add(below.getValue(), sequence);
    } else {
      completed.sessions.add(work.session().value());
      completed.sequences.add(sequence);
    }
  }

  /** They are completed in the database. */
  void close(Completed completed) {
    locked(
        () -> {
          notes.deleted(completed.over);
          completed.folds.forEach(notes::release);
          for (long first : completed.complete.firsts()) {
            leftOver.remove(first);
          }
          for (var bundle : completed.complete.bundles()) {
            bundle.close(bundle.mask());
            forgetIfDone(bundle);
          }
          for (var bundle : completed.shared.bundles()) {
            bundle.close(bundle.mask());
            forgetIfDone(bundle);
          }
          notes.add(completed.note, completed.incomplete.bundles());
          for (var bundle : completed.incomplete.bundles()) {
            bundle.close(bundle.mask());
            // What was open besides has become rows meanwhile.
            if (forgetIfDone(bundle)) {
              leftOver.add(bundle.first);
            }
          }
        });
  }

  /** Another reading begins, which knows nothing of these. */
  void clear() {
    locked(
        () -> {
          bundles.clear();
          leftOver.clear();
          notes.clear();
        });
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
