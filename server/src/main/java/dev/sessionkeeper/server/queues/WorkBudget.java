package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.BatchLimit;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The memory of one answer, shared equally by its sessions. A session hands out its first message
 * whatever its size, and its state, so its share is a target. Sessions are received some at a time
 * ({@link #some}), and none any more when the whole is reached ({@link Filling}): that bounds it.
 *
 * @param perSession the bytes of each session
 * @param whole the bytes of the answer
 */
record WorkBudget(long perSession, long whole) {
  private static final long LEAST_BYTES = 64L << 10;
  private static final long LEAST_PER_SESSION = 1L << 10;
  private static final long BYTES_AFTER_WAIT = 1L << 20;

  /** Sessions that are received at once: all of them may have the largest message and state. */
  private static final int SOME = 32;

  /** Takes the memory of the answer before sessions are taken. */
  static WorkBudget reserve(Request request, WorkRequest wish) {
    long sessions = Math.max(1, wish.settled().size() + wish.each().mostSessions());
    long states = wish.each().wantsState() ? sessions * SessionState.MAX_BYTES : 0;
    long wanted =
        Math.min(ReceiveForAnswer.MOST_BYTES, sessions * wish.each().mostBytes() + states);
    long granted = request.reserve(LEAST_BYTES, Math.max(LEAST_BYTES, wanted));
    return new WorkBudget(Math.max(LEAST_PER_SESSION, granted / sessions), granted);
  }

  /** A round that has waited holds no memory, and takes a small answer. */
  WorkBudget afterWait() {
    return new WorkBudget(Math.min(perSession, BYTES_AFTER_WAIT), BYTES_AFTER_WAIT);
  }

  /** The same items, some at a time. */
  static <T> List<List<T>> some(List<T> items) {
    return IntStream.iterate(0, from -> from < items.size(), from -> from + SOME)
        .mapToObj(from -> items.subList(from, Math.min(items.size(), from + SOME)))
        .toList();
  }

  Filling fill() {
    return new Filling();
  }

  /** How full the answer is. Used by one thread. */
  final class Filling {
    private long taken;

    void take(long bytes) {
      taken += bytes;
    }

    boolean hasRoom() {
      return taken < whole;
    }
  }

  BatchLimit limit(WorkRequest.WorkTake each) {
    return new BatchLimit(each.mostMessages(), Math.min(each.mostBytes(), perSession));
  }
}
