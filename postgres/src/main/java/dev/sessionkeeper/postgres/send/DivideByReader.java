package dev.sessionkeeper.postgres.send;

import dev.sessionkeeper.postgres.batch.Buckets;
import dev.sessionkeeper.Message;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Puts messages that are stored together behind each other where one reader has their sessions, so
 * that each gets bundles of its own. Those of a session stay in their order.
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
   * Divides.
   *
   * @param parts the buckets of each reader; where these are not known to be several, nothing is
   *     divided, and nobody asks for the buckets
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

  /** Which message comes at this place. */
  int at(int place) {
    return order[place];
  }

  /** The bucket of that message, as a set; all of them when nobody has asked. */
  long bucket(int place) {
    return buckets[order[place]];
  }

  /** Whether another reader has it than has the one before it. */
  boolean isOtherReader(int place) {
    return place > 0 && readers[order[place]] != readers[order[place - 1]];
  }

  /** Numbers in the order of the messages, from those in the order of the places. */
  long[] inFirstOrder(long[] numbers) {
    var first = new long[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      first[order[i]] = numbers[i];
    }
    return first;
  }
}
