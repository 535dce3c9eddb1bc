package dev.sessionkeeper.processor;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls a batch handler. After a batch failed, hands out its messages one at a time.
 *
 * <p>One instance per processor. It remembers the failed batches of a bounded number of sessions. A
 * message with an earlier attempt is always alone in its batch.
 */
final class CallBatchHandler {
  private static final int MOST_REMEMBERED = 1024;

  private final BatchHandler handler;
  private final int most;
  private final Map<SessionId, Long> aloneUpTo =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<SessionId, Long> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  CallBatchHandler(BatchHandler handler, int most) {
    if (most < 1) {
      throw new IllegalArgumentException("maxBatch must be at least 1, was " + most);
    }
    this.handler = handler;
    this.most = most;
  }

  int most() {
    return most;
  }

  /** Returns the same handler for one message. */
  MessageHandler forOne() {
    return (delivery, session) ->
        settlements(List.of(delivery), handler.handle(List.of(delivery), session)).get(0);
  }

  /** Returns how many of these messages go into the next call. */
  int nextSize(SessionId session, List<Delivery> waiting) {
    var first = waiting.get(0);
    if (first.attempt() > 1 || isAlone(session, first.sequence())) {
      return 1;
    }
    int size = 1;
    while (size < Math.min(most, waiting.size()) && waiting.get(size).attempt() == 1) {
      size++;
    }
    return size;
  }

  /**
   * Returns the settlements of the first messages of the batch; the first failure is the last
   * entry.
   */
  List<Settled> handle(
      List<Delivery> batch, CallHandler failures, SessionContext context, Hold hold, long now) {
    failures.started(batch, context, hold);
    hold.beginCall(now);
    if (!hold.isHeld()) {
      hold.endCall();
      return List.of();
    }
    List<Settlement> settlements;
    try {
      settlements = settlements(batch, handler.handle(List.copyOf(batch), context));
    } catch (Throwable thrown) {
      boolean interrupted = hold.endCall();
      remember(hold.id(), batch);
      var decided = List.of(failures.afterFailure(batch.get(0), hold, thrown, interrupted));
      failures.ended(batch, decided, context, hold, now);
      return settled(batch, decided);
    }
    hold.endCall();
    int last = settlements.size() - 1;
    settlements.set(last, failures.checked(batch.get(last), hold, settlements.get(last)));
    failures.ended(batch, settlements, context, hold, now);
    return settled(batch, settlements);
  }

  @SuppressWarnings(
      "ConstantValue") // Application code without nullness annotations may return null.
  private static List<Settlement> settlements(List<Delivery> batch, BatchSettlement settlement) {
    if (settlement == null) {
      throw new IllegalStateException("The handler returned no settlement");
    }
    return new ArrayList<>(settlement.settlements(batch.size()));
  }

  private static List<Settled> settled(List<Delivery> batch, List<Settlement> settlements) {
    var all = new ArrayList<Settled>(settlements.size());
    for (int i = 0; i < settlements.size(); i++) {
      all.add(new Settled(batch.get(i).sequence(), settlements.get(i)));
    }
    return all;
  }

  private void remember(SessionId session, List<Delivery> batch) {
    synchronized (aloneUpTo) {
      aloneUpTo.put(session, batch.get(batch.size() - 1).sequence());
    }
  }

  private boolean isAlone(SessionId session, long sequence) {
    synchronized (aloneUpTo) {
      var until = aloneUpTo.get(session);
      if (until == null) {
        return false;
      }
      if (sequence <= until) {
        return true;
      }
      aloneUpTo.remove(session);
      return false;
    }
  }
}
