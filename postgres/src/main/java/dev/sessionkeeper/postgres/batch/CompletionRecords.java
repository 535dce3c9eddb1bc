package dev.sessionkeeper.postgres.batch;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The completion records of this process in the database: which messages of incomplete batches are
 * completed. A record is obsolete when no batch needs it. Guarded by the lock of {@link
 * OpenBatches}.
 */
public final class CompletionRecords {
  /**
   * The most records. Beyond this number, the batches of the oldest record copy its bits into their
   * own rows.
   */
  private static final int MOST = 64;

  private final Set<CompletionRecord> needed = new LinkedHashSet<>();
  private final Set<Long> over = new HashSet<>();

  /** A row of the database. */
  public static final class CompletionRecord {
    private final long number;
    private final List<MessageBatch> batches = new ArrayList<>();
    private int needs;

    CompletionRecord(long number) {
      this.number = number;
    }
  }

  /** Adds a record that the database has now. */
  void add(long number, List<MessageBatch> batches) {
    if (batches.isEmpty()) {
      return;
    }
    var note = new CompletionRecord(number);
    note.batches.addAll(batches);
    note.needs = batches.size();
    batches.forEach(batch -> batch.notes.add(note));
    needed.add(note);
  }

  /**
   * A batch that is about to copy the bits of these records into its own row. Records that are
   * written meanwhile are not among them: their bits are not part of the fold.
   */
  public record Fold(MessageBatch batch, List<CompletionRecord> notes) {}

  /** Releases the records of a batch that is gone. */
  void release(MessageBatch batch) {
    release(new Fold(batch, List.copyOf(batch.notes)));
  }

  /**
   * Releases the records whose bits a batch has taken over. The batch still needs its other
   * records.
   */
  void release(Fold fold) {
    for (var note : fold.notes) {
      if (fold.batch.notes.remove(note) && --note.needs == 0) {
        needed.remove(note);
        over.add(note.number);
      }
    }
  }

  /** Returns the obsolete records that are still in the database. */
  long[] over() {
    return over.stream().mapToLong(Long::longValue).toArray();
  }

  void deleted(long[] numbers) {
    for (long number : numbers) {
      over.remove(number);
    }
  }

  /**
   * Returns the batches of the oldest record if there are too many records: these batches are to
   * copy their bits into their rows.
   */
  List<Fold> late() {
    if (needed.size() <= MOST) {
      return List.of();
    }
    var oldest = needed.iterator().next();
    return oldest.batches.stream()
        .filter(batch -> batch.notes.contains(oldest))
        .map(batch -> new Fold(batch, List.copyOf(batch.notes)))
        .toList();
  }

  void clear() {
    needed.clear();
    over.clear();
  }
}
