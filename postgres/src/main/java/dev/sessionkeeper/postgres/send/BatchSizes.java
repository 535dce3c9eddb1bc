package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.postgres.batch.MessageBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Divides messages that are stored together into batches. No batch is too large to be read and
 * rewritten at once, and a message with a shared payload is alone in its batch.
 */
public final class BatchSizes {
  private static final long MOST_BYTES = 256 * 1024;

  private final List<Integer> sizes = new ArrayList<>();
  private final List<Long> weights = new ArrayList<>();
  private final List<Long> buckets = new ArrayList<>();
  private int size;
  private long weight;
  private long itsBuckets;
  private boolean isAlone;

  /** Adds the next message, with the set of its bucket. */
  void add(int bytes, boolean isShared, long bucket) {
    boolean isFull = size == MessageBatch.MOST_MESSAGES || weight + bytes > MOST_BYTES;
    if (size > 0 && (isFull || isShared || isAlone)) {
      end();
    }
    size++;
    weight += bytes;
    itsBuckets |= bucket;
    isAlone = isShared;
  }

  /** Ends the batch: the next message is in another one. */
  void end() {
    if (size == 0) {
      return;
    }
    buckets.add(itsBuckets);
    itsBuckets = 0;
    sizes.add(size);
    weights.add(weight);
    size = 0;
    weight = 0;
  }

  int[] sizes() {
    return IntStream.concat(sizes.stream().mapToInt(Integer::intValue), IntStream.of(size))
        .toArray();
  }

  long[] weights() {
    return LongStream.concat(weights.stream().mapToLong(Long::longValue), LongStream.of(weight))
        .toArray();
  }

  /** Returns the buckets of which each batch has messages. */
  long[] buckets() {
    return LongStream.concat(buckets.stream().mapToLong(Long::longValue), LongStream.of(itsBuckets))
        .toArray();
  }

  /** Returns the sequence numbers of all messages, given the first number of each batch. */
  LongStream numbers(Long[] firsts) {
    var all = sizes();
    return IntStream.range(0, all.length)
        .boxed()
        .flatMapToLong(i -> LongStream.range(firsts[i], firsts[i] + all[i]));
  }
}
