package dev.sessionkeeper.postgres;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.store.GroupCalls;
import dev.sessionkeeper.store.Rhythm;
import dev.sessionkeeper.store.SqlErrors;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Completes messages and gives lanes back: for many sessions one statement and one commit.
 *
 * <p>What is more than that, such as a retry or a state, is a {@link SettleCall}; those share a
 * commit, too. I1: calls of one session take effect in the order in which they came; behind one
 * that failed nothing does. I2: a lease that is lost fails alone, not its group.
 */
final class SettleSessions {
  private static final int MOST_CALLS = 4096;

  /** They cost more than completions, and have their lanes locked until all of them are done. */
  private static final int MOST_MIXED = 64;

  /** A retry costs a quarter of other calls: one statement counts all retries of a group. */
  private static final int MOST_RETRIES = 256;

  private static final Duration PACE = Duration.ofMillis(2);

  private final OrderedQueue queue;

  /** Calls that wait and whose callers do nothing else meanwhile. */
  private final AtomicInteger urgent = new AtomicInteger();

  private final GroupCalls<Call> group;
  private final CompleteMessages completions;

  SettleSessions(OrderedQueue queue) {
    this.queue = queue;
    this.completions = new CompleteMessages(queue);
    this.group =
        new GroupCalls<>(
            "keeper-settle-" + queue.name(),
            MOST_CALLS,
            Rhythm.apart(queue.time(), PACE, this::isUrgent, queue::areSendersHeldUp),
            this::settleAll);
  }

  sealed interface Call permits CompleteCall, Free, Mixed {
    SessionId session();

    CompletableFuture<Void> answer();

    /** Whether one before it has failed since it was sent. */
    default boolean isVoid() {
      return false;
    }

    /** The first message it is about. */
    default long first() {
      return 0;
    }
  }

  record Free(SessionId session, long epoch, LongSupplier carriedBy, CompletableFuture<Void> answer)
      implements Call {}

  record Mixed(SettleCall call, BooleanSupplier voided, CompletableFuture<Void> answer)
      implements Call {
    @Override
    public SessionId session() {
      return call.session();
    }

    @Override
    public boolean isVoid() {
      return voided.getAsBoolean();
    }

    private void answer(SettleEach.Outcome outcome) {
      try {
        var unused = call.result(outcome);
        answer.complete(null);
      } catch (KeeperException e) {
        answer.completeExceptionally(e);
      }
    }

    @Override
    public long first() {
      return call.settlements().isEmpty() ? 0 : call.settlements().get(0).sequence();
    }
  }

  void complete(CompleteCall call) {
    group.add(call);
  }

  CompletableFuture<Void> free(SessionId session, long epoch) {
    return add(new Free(session, epoch, () -> Hold.NOT_CARRIED, new CompletableFuture<>()));
  }

  /** Gives the lane back; of a session that is carried this is only the end of its settlements. */
  CompletableFuture<Void> free(Hold hold) {
    return add(new Free(hold.id, hold.epoch, hold::carriedBy, new CompletableFuture<>()));
  }

  CompletableFuture<Void> settle(SettleCall call) {
    return settle(call, () -> false);
  }

  private boolean isUrgent() {
    return queue.doAllWaitForSettlements() || queue.isWorthServing(urgent.get());
  }

  CompletableFuture<Void> settle(SettleCall call, BooleanSupplier voided) {
    urgent.incrementAndGet();
    return add(new Mixed(call, voided, new CompletableFuture<>()));
  }

  private CompletableFuture<Void> add(Call call) {
    group.add(call);
    return call.answer();
  }

  private void settleAll(List<Call> calls) {
    urgent.addAndGet(-(int) calls.stream().filter(Mixed.class::isInstance).count());
    var left = calls;
    while (!left.isEmpty()) {
      left = settleSome(left);
    }
  }

  /** Settles what can go together; returns the calls that must wait for these. */
  private List<Call> settleSome(List<Call> calls) {
    var together = new LinkedHashMap<SessionId, SettleWork>();
    var mixed = new LinkedHashMap<SessionId, Mixed>();
    var later = new ArrayList<Call>();
    var behind = new HashSet<SessionId>();
    for (var call : calls) {
      if (behind.contains(call.session()) || mixed.containsKey(call.session())) {
        later.add(call);
        continue;
      }
      if (call.isVoid()) {
        call.answer()
            .completeExceptionally(
                new KeeperException.OutOfOrder(
                    call.session(), call.first(), "the settlement before it failed"));
        continue;
      }
      switch (call) {
        case Mixed one -> mixed.put(one.session(), one);
        case CompleteCall one -> {
          if (!work(together, one.session(), one.epoch(), one.carriedBy()).complete(one)) {
            behind.add(one.session());
            later.add(one);
          }
        }
        case Free one -> {
          if (!work(together, one.session(), one.epoch, one.carriedBy)
              .free(one.epoch, one.answer())) {
            later.add(one);
          }
          behind.add(one.session());
        }
      }
    }
    if (!together.isEmpty()) {
      settleTogether(List.copyOf(together.values()));
    }
    var inOrder = mixed.values().stream().sorted(Comparator.comparing(Mixed::session)).toList();
    for (int from = 0; from < inOrder.size(); ) {
      int upto = from + sizeOfGroup(inOrder.subList(from, inOrder.size()));
      settleMixed(inOrder.subList(from, upto));
      from = upto;
    }
    return later;
  }

  /** Returns how many of these calls, at least one, share the next statement. */
  private static int sizeOfGroup(List<Mixed> mixed) {
    int retries = 0;
    int others = 0;
    for (var one : mixed) {
      boolean isRetry = one.call.isRetry();
      retries += isRetry ? 1 : 0;
      others += isRetry ? 0 : 1;
      if (retries * MOST_MIXED + others * MOST_RETRIES > MOST_MIXED * MOST_RETRIES) {
        return retries + others - 1;
      }
    }
    return mixed.size();
  }

  private static SettleWork work(
      Map<SessionId, SettleWork> together, SessionId session, long epoch, LongSupplier carriedBy) {
    return together.computeIfAbsent(session, s -> new SettleWork(s, epoch, carriedBy));
  }

  private void settleTogether(List<SettleWork> works) {
    var lanes = new ArrayList<SettleWork>();
    var carried = new ArrayList<SettleWork>();
    works.forEach(work -> (work.isCarried() ? carried : lanes).add(work));
    if (!carried.isEmpty()) {
      // Those that have got a lane meanwhile are settled there.
      lanes.addAll(completions.ofCarried(carried));
    }
    if (!lanes.isEmpty()) {
      completions.ofLanes(lanes);
    }
  }

  /** In one commit, in the order of the sessions, as everybody who locks several of them. */
  private void settleMixed(List<Mixed> mixed) {
    try {
      var calls = mixed.stream().map(Mixed::call).toList();
      var outcomes =
          queue
              .connections()
              .call(
                  connection ->
                      SettleEach.run(connection, queue.id(), queue.node().shard(), calls));
      for (int i = 0; i < mixed.size(); i++) {
        mixed.get(i).answer(outcomes.get(i));
      }
    } catch (KeeperException.Rejected e) {
      refuse(mixed, e);
    } catch (KeeperException.Unavailable e) {
      boolean isLocked =
          e.getCause() instanceof SQLException cause && SqlErrors.isLockTimeout(cause);
      if (isLocked && mixed.size() > 1) {
        // A transaction has one of them locked; the others go on.
        mixed.forEach(each -> settleMixed(List.of(each)));
      } else {
        mixed.forEach(each -> each.answer.completeExceptionally(e));
      }
    } catch (RuntimeException e) {
      mixed.forEach(each -> each.answer.completeExceptionally(e));
    }
  }

  /** One of them cannot be settled; the others must not suffer. */
  private void refuse(List<Mixed> mixed, KeeperException.Rejected reason) {
    if (mixed.size() == 1) {
      mixed.get(0).answer.completeExceptionally(reason);
    } else {
      mixed.forEach(each -> settleMixed(List.of(each)));
    }
  }
}
