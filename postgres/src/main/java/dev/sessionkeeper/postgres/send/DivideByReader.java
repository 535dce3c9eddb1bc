package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.postgres.batch.Buckets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Orders messages that are stored together by the reader of their sessions, so that each reader
 * gets batches of its own. Messages of a session stay in their order.
 */
public final class DivideByReader {
  private static final long UNKNOWN = Buckets.ALL;

  private final int[] order;
  private final long[] buckets;
  private final int[] readers;

  private DivideByReader(int[] order, long[] buckets, int[] readers) {
    this.order = order;
    this.buckets = buckets;
    this.readers = readers;
  }

  /**
   * Divides messages.
   *
   * @param parts the buckets of each reader; with fewer than two readers nothing is divided, and no
   *     bucket is computed
   */
  static DivideByReader among(long[] parts, List<Message> messages) {
    int count = messages.size();
    var buckets = new long[count];
    var readers = new int[count];
    if (parts.length < 2) {
      Arrays.fill(buckets, UNKNOWN);
      return new DivideByReader(IntStream.range(0, count).toArray(), buckets, readers);
    }
    for (int i = 0; i < count; i++) {
      buckets[i] =
          messages.get(i).session().map(id -> Buckets.only(Buckets.of(id))).orElse(UNKNOWN);
      readers[i] = readerOf(buckets[i], parts);
    }
    var order =
        IntStream.range(0, count)
            .boxed()
            .sorted(Comparator.comparingInt(i -> readers[i]))
            .mapToInt(i -> i)
            .toArray();
    return new DivideByReader(order, buckets, readers);
  }

  private static int readerOf(long bucket, long[] parts) {
    for (int i = 0; i < parts.length; i++) {
      if ((parts[i] & bucket) == bucket) {
        return i;
      }
    }
    return parts.length;
  }

  /** Returns the index of the message at this place. */
  int at(int place) {
    return order[place];
  }

  /** Returns the bucket of that message, as a set; all buckets if none was computed. */
  long bucket(int place) {
    return buckets[order[place]];
  }

  /** Returns whether the message before it belongs to another reader. */
  boolean isOtherReader(int place) {
    return place > 0 && readers[order[place]] != readers[order[place - 1]];
  }

  /** Converts numbers in the order of the places to the order of the messages. */
  long[] inFirstOrder(long[] numbers) {
    var first = new long[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      first[order[i]] = numbers[i];
    }
    return first;
  }
}
