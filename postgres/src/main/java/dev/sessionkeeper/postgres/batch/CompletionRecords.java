package dev.sessionkeeper.postgres.batch;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The notes that the database has of this process: what is completed of bundles that have more. A
 * note is over when none of its bundles needs it. Guarded by the lock of {@link OpenBatches}.
 */
public final class CompletionRecords {
  /** When there are more, the bundles of the oldest one are told what is completed of them. */
  private static final int MOST = 64;

  private final Set<Note> needed = new LinkedHashSet<>();
  private final Set<Long> over = new HashSet<>();

  /** A row of the database. */
  static final class Note {
    private final long number;
    private final List<MessageBatch> bundles = new ArrayList<>();
    private int needs;

    Note(long number) {
      this.number = number;
    }
  }

  /** Was written down, and is about these. */
  void add(long number, List<MessageBatch> bundles) {
    if (bundles.isEmpty()) {
      return;
    }
    var note = new Note(number);
    note.bundles.addAll(bundles);
    note.needs = bundles.size();
    bundles.forEach(bundle -> bundle.notes.add(note));
    needed.add(note);
  }

  /**
   * A bundle whose own bits are about to say what these notes say. Notes that are written meanwhile
   * are not among them: their bits are not part of the fold.
   */
  record Fold(MessageBatch bundle, List<Note> notes) {}

  /** The bundle is gone, so it needs no note. */
  void release(MessageBatch bundle) {
    release(new Fold(bundle, List.copyOf(bundle.notes)));
  }

  /** The bits of the bundle say what these notes say; it still needs all others. */
  void release(Fold fold) {
    for (var note : fold.notes) {
      if (fold.bundle.notes.remove(note) && --note.needs == 0) {
        needed.remove(note);
        over.add(note.number);
      }
    }
  }

  /** Those that are over, and still there. */
  long[] over() {
    return over.stream().mapToLong(Long::longValue).toArray();
  }

  void deleted(long[] numbers) {
    for (long number : numbers) {
      over.remove(number);
    }
  }

  /** Bundles that have waited for their last message while many notes were written. */
  List<Fold> late() {
    if (needed.size() <= MOST) {
      return List.of();
    }
    var oldest = needed.iterator().next();
    return oldest.bundles.stream()
        .filter(bundle -> bundle.notes.contains(oldest))
        .map(bundle -> new Fold(bundle, List.copyOf(bundle.notes)))
        .toList();
  }

  void clear() {
    needed.clear();
    over.clear();
  }
}
