package dev.sessionkeeper.postgres.batch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * The messages that one settlement of cached sessions completes, by the way they are stored. {@link
 * OpenBatches} builds it under its lock; fields that are not private do not change afterwards.
 */
public final class CompletedMessages {
  public final long note;

  /** Messages with rows of their own. */
  public final List<String> sessions = new ArrayList<>();

  public final List<Long> sequences = new ArrayList<>();

  /**
   * Batches that still have open messages, and the bits that the completion record has for them.
   */
  public Bits incomplete = Bits.NONE;

  /** Batches that this settlement completes. Batches that were complete before have no bits. */
  public Bits complete = Bits.NONE;

  /** Batches that have messages of other readers too. */
  public Bits shared = Bits.NONE;

  /**
   * Incomplete batches whose oldest completion record must go, with the bits of all messages that
   * were completed before. The statement copies these bits into the rows of the batches.
   */
  public Bits late = Bits.NONE;

  /** The completion records that the batches in {@code late} do not need after this settlement. */
  List<CompletionRecords.Fold> folds = List.of();

  /** Completion records that no batch needs any more. */
  public long[] over = {};

  private final List<MessageBatch> touched = new ArrayList<>();

  /**
   * Batches by their first sequence numbers, and bits of each.
   *
   * @param batches the batches that are still known; the arrays end with those that are not
   */
  public record Bits(List<MessageBatch> batches, long[] firsts, long[] masks) {
    static final Bits NONE = new Bits(List.of(), new long[0], new long[0]);

    static Bits of(List<MessageBatch> batches, ToLongFunction<MessageBatch> mask) {
      return new Bits(
          batches,
          batches.stream().mapToLong(batch -> batch.first).toArray(),
          batches.stream().mapToLong(mask).toArray());
    }

    private Bits and(Collection<Long> others) {
      var all = LongStream.concat(Arrays.stream(firsts), others.stream().mapToLong(n -> n));
      return new Bits(batches, all.toArray(), Arrays.copyOf(masks, masks.length + others.size()));
    }
  }

  CompletedMessages(long note) {
    this.note = note;
  }

  void add(MessageBatch batch, long sequence) {
    if (batch.complete(sequence, this)) {
      touched.add(batch);
    }
  }

  /**
   * Moves the completions of these batches from completion records into the bits of the batch rows.
   */
  void fold(List<CompletionRecords.Fold> old) {
    folds = old;
    late = Bits.of(old.stream().map(CompletionRecords.Fold::batch).toList(), MessageBatch::done);
  }

  /** Ends the collection: no message is added any more. */
  void end(Collection<Long> leftOver) {
    var parts = new ArrayList<MessageBatch>();
    var wholes = new ArrayList<MessageBatch>();
    var ofOthersToo = new ArrayList<MessageBatch>();
    for (var batch : touched) {
      (batch.isShared ? ofOthersToo : batch.isWhole() ? wholes : parts).add(batch);
    }
    shared = Bits.of(ofOthersToo, MessageBatch::mask);
    incomplete = Bits.of(parts, MessageBatch::mask);
    complete = Bits.of(wholes, MessageBatch::mask).and(leftOver);
  }
}
