package dev.sessionkeeper.postgres.batch;

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
 * The message batches that this process has read, and which of their messages are open.
 *
 * <p>The database may be ahead: a message that was completed there, or got a row of its own, may
 * still be open here for a moment. A statement that names such a message changes nothing, or
 * reports it.
 */
public final class OpenBatches {
  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Long, MessageBatch> batches = new TreeMap<>();
  private final CompletionRecords notes = new CompletionRecords();
  private final AtomicLong lastRecord = new AtomicLong();

  /** Batches without an open message that may still be in the database. */
  private final Set<Long> leftOver = new HashSet<>();

  public void add(Collection<MessageBatch> read) {
    locked(() -> read.forEach(batch -> batches.put(batch.first, batch)));
  }

  /** Returns the batches that have open messages of these sessions. */
  public long[] of(Set<SessionId> chosen) {
    return firsts(batch -> batch.bitsOf(chosen) != 0);
  }

  /** Returns whether this is an open message of a batch. */
  public boolean isOpen(long sequence) {
    lock.lock();
    try {
      var below = batches.floorEntry(sequence);
      return below != null && below.getValue().isOpen(sequence);
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether no batch is left of those that were read. */
  public boolean isEmpty() {
    lock.lock();
    try {
      return batches.isEmpty() && leftOver.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  long[] all() {
    return firsts(batch -> true);
  }

  private long[] firsts(Predicate<MessageBatch> wanted) {
    lock.lock();
    try {
      return batches.values().stream().filter(wanted).mapToLong(batch -> batch.first).toArray();
    } finally {
      lock.unlock();
    }
  }

  /** Records that the open messages of these sessions have rows of their own now. */
  public void becameRows(Set<SessionId> chosen) {
    locked(
        () -> {
          for (var batch : List.copyOf(batches.values())) {
            batch.close(batch.bitsOf(chosen));
            // Unpacking deleted the batch, unless its other messages were completed later.
            if (forgetIfDone(batch) && !batch.isShared) {
              leftOver.add(batch.first);
            }
          }
        });
  }

  private boolean forgetIfDone(MessageBatch batch) {
    if (!batch.isDone() || !batches.remove(batch.first, batch)) {
      return false;
    }
    notes.release(batch);
    return true;
  }

  /** Returns the number of the next settlement. A repetition keeps its number. */
  public long nextRecord() {
    return lastRecord.incrementAndGet();
  }

  /** Divides completed messages by the way they are stored. */
  public CompletedMessages tellApart(List<? extends Completions> works, long note) {
    var completed = new CompletedMessages(note);
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

  private void tellApart(Completions work, long sequence, CompletedMessages completed) {
    var below = batches.floorEntry(sequence);
    if (below != null && below.getValue().isOpen(sequence)) {
      completed.add(below.getValue(), sequence);
    } else {
      completed.sessions.add(work.session().value());
      completed.sequences.add(sequence);
    }
  }

  /** Records that the database has completed them. */
  public void close(CompletedMessages completed) {
    locked(
        () -> {
          notes.deleted(completed.over);
          completed.folds.forEach(notes::release);
          for (long first : completed.complete.firsts()) {
            leftOver.remove(first);
          }
          for (var batch : completed.complete.batches()) {
            batch.close(batch.mask());
            forgetIfDone(batch);
          }
          for (var batch : completed.shared.batches()) {
            batch.close(batch.mask());
            forgetIfDone(batch);
          }
          notes.add(completed.note, completed.incomplete.batches());
          for (var batch : completed.incomplete.batches()) {
            batch.close(batch.mask());
            // The other open messages have become rows meanwhile.
            if (forgetIfDone(batch)) {
              leftOver.add(batch.first);
            }
          }
        });
  }

  /** Forgets all batches, because the process begins to read anew. */
  public void clear() {
    locked(
        () -> {
          batches.clear();
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
