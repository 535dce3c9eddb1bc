package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.BatchLimit;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The memory of one answer, shared equally by its sessions. A session's first message and its state
 * are always included, whatever their size, so a share is a target. Two rules bound the total:
 * sessions are received in chunks ({@link #some}), and none after the whole is reached ({@link
 * Filling}).
 *
 * @param perSession the bytes of each session
 * @param whole the bytes of the answer
 */
record WorkBudget(long perSession, long whole) {
  private static final long LEAST_BYTES = 64L << 10;
  private static final long LEAST_PER_SESSION = 1L << 10;
  private static final long BYTES_AFTER_WAIT = 1L << 20;

  /** How many sessions are received at once; each may have the largest message and state. */
  private static final int SOME = 32;

  /** Reserves the memory of the answer before sessions are accepted. */
  static WorkBudget reserve(Request request, WorkRequest wish) {
    long sessions = Math.max(1, wish.settled().size() + wish.each().mostSessions());
    long states = wish.each().wantsState() ? sessions * SessionState.MAX_BYTES : 0;
    long wanted =
        Math.min(ReceiveForAnswer.MOST_BYTES, sessions * wish.each().mostBytes() + states);
    long granted = request.reserve(LEAST_BYTES, Math.max(LEAST_BYTES, wanted));
    return new WorkBudget(Math.max(LEAST_PER_SESSION, granted / sessions), granted);
  }

  /**
   * Returns the small budget of a request that has waited, because waiting requests reserve no
   * memory.
   */
  WorkBudget afterWait() {
    return new WorkBudget(Math.min(perSession, BYTES_AFTER_WAIT), BYTES_AFTER_WAIT);
  }

  /** Splits the items into chunks. */
  static <T> List<List<T>> some(List<T> items) {
    return IntStream.iterate(0, from -> from < items.size(), from -> from + SOME)
        .mapToObj(from -> items.subList(from, Math.min(items.size(), from + SOME)))
        .toList();
  }

  Filling fill() {
    return new Filling();
  }

  /** Tracks how full the answer is. Used by one thread. */
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
