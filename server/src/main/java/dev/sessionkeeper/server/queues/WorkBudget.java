package dev.sessionkeeper.server.queues;

import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.spi.BatchLimit;

/**
 * The memory of one answer, shared equally by its sessions. A session hands out its first message
 * whatever its size, so the share is a target and the largest message is the tolerance.
 *
 * @param perSession the bytes of each session
 */
record WorkBudget(long perSession) {
  private static final long LEAST_BYTES = 64L << 10;
  private static final long LEAST_PER_SESSION = 1L << 10;
  private static final long BYTES_AFTER_WAIT = 1L << 20;

  /** Takes the memory of the answer before sessions are taken. */
  static WorkBudget reserve(Request request, WorkRequest wish) {
    long sessions = Math.max(1, wish.settled().size() + wish.each().mostSessions());
    long wanted = Math.min(ReceiveForAnswer.MOST_BYTES, sessions * wish.each().mostBytes());
    long granted = request.reserve(LEAST_BYTES, Math.max(LEAST_BYTES, wanted));
    return new WorkBudget(Math.max(LEAST_PER_SESSION, granted / sessions));
  }

  /** A round that has waited holds no memory, and takes a small answer. */
  WorkBudget afterWait() {
    return new WorkBudget(Math.min(perSession, BYTES_AFTER_WAIT));
  }

  BatchLimit limit(WorkRequest.WorkTake each) {
    return new BatchLimit(each.mostMessages(), Math.min(each.mostBytes(), perSession));
  }
}
