package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.queue.QueueContext;
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
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * Settles sessions and gives them back: one statement and one commit for many sessions.
 *
 * <p>Completions and immediate retries of cached sessions share a statement. Other settlements,
 * such as a dead letter or a state, are {@link SettleCall}s and share another one. I1: calls of one
 * session take effect in the order in which they were sent; after a call that failed, none takes
 * effect. I2: if a lease is lost, only its own calls fail, not the batch.
 */
public final class SettleSessions {
  private static final int MOST_CALLS = 4096;

  /**
   * The most mixed calls of a statement: they cost more than completions, and lock their sessions
   * until all of them are done.
   */
  private static final int MOST_MIXED = 64;

  /**
   * The most retries of a statement: one statement counts all retries of a batch, so a retry costs
   * a quarter of other calls.
   */
  private static final int MOST_RETRIES = 256;

  private static final Duration PACE = Duration.ofMillis(2);

  private final QueueContext queue;

  /** Counts waiting calls whose callers do nothing else meanwhile. */
  private final AtomicInteger urgent = new AtomicInteger();

  private final GroupCalls<SettlementCall> group;
  private final CompleteMessages completions;

  /**
   * Creates the batcher of settlements.
   *
   * @param isNobodyLeft returns whether no consumer works or waits for work
   * @param areSendersHeldUp returns whether senders send as fast as they are answered
   * @param isDue returns whether a batch with this number of sessions must leave now, without
   *     waiting for further sessions
   */
  public SettleSessions(
      QueueContext queue,
      BooleanSupplier isNobodyLeft,
      BooleanSupplier areSendersHeldUp,
      IntPredicate isDue) {
    this.queue = queue;
    this.completions = new CompleteMessages(queue);
    this.group =
        new GroupCalls<>(
            "keeper-settle-" + queue.name(),
            MOST_CALLS,
            Rhythm.apart(
                queue.time(),
                PACE,
                () -> isNobodyLeft.getAsBoolean() || isDue.test(urgent.get()),
                areSendersHeldUp),
            this::settleAll);
  }

  public void complete(CompleteCall call) {
    group.add(call);
  }

  public CompletableFuture<Void> free(SessionId session, long epoch) {
    return free(session, epoch, Fence.OfSession::new);
  }

  /** Gives a session back. For a cached session this only ends its settlements. */
  public CompletableFuture<Void> free(SessionId session, long epoch, Supplier<Fence> fence) {
    return add(new GiveBackCall(session, epoch, fence, new CompletableFuture<>()));
  }

  public CompletableFuture<Void> settle(SettleCall call) {
    return settle(call, () -> false);
  }

  public CompletableFuture<Void> settle(SettleCall call, BooleanSupplier voided) {
    urgent.incrementAndGet();
    return add(new MixedCall(call, voided, new CompletableFuture<>()));
  }

  /** Counts a failed attempt of a session in memory. */
  public CompletableFuture<Void> retry(RetryCall call) {
    urgent.incrementAndGet();
    return add(call);
  }

  private CompletableFuture<Void> add(SettlementCall call) {
    group.add(call);
    return call.answer();
  }

  private void settleAll(List<SettlementCall> calls) {
    urgent.addAndGet(-(int) calls.stream().filter(SettleSessions::isUrgent).count());
    var left = calls;
    while (!left.isEmpty()) {
      left = settleSome(left);
    }
  }

  private static boolean isUrgent(SettlementCall call) {
    return call instanceof MixedCall || call instanceof RetryCall;
  }

  /** Settles the calls that can go together. Returns the calls that must wait for them. */
  private List<SettlementCall> settleSome(List<SettlementCall> calls) {
    var together = new LinkedHashMap<SessionId, SettleWork>();
    var mixed = new LinkedHashMap<SessionId, MixedCall>();
    var later = new ArrayList<SettlementCall>();
    var behind = new HashSet<SessionId>();
    for (var call : calls) {
      if (behind.contains(call.session()) || mixed.containsKey(call.session())) {
        later.add(call);
        continue;
      }
      if (call.isVoid()) {
        refuseBehindFailure(call);
        continue;
      }
      switch (call) {
        case MixedCall one -> mixed.put(one.session(), one);
        case CompleteCall one -> {
          if (!work(together, one.session(), one.epoch(), one.fence()).complete(one)) {
            behind.add(one.session());
            later.add(one);
          }
        }
        case RetryCall one -> {
          if (!work(together, one.session(), one.epoch(), one.fence()).retry(one)) {
            later.add(one);
          }
          behind.add(one.session());
        }
        case GiveBackCall one -> {
          if (!work(together, one.session(), one.epoch(), one.fence())
              .free(one.epoch(), one.answer())) {
            later.add(one);
          }
          behind.add(one.session());
        }
      }
    }
    if (!together.isEmpty()) {
      var retried = settleTogether(List.copyOf(together.values()));
      retried.forEach(one -> mixed.put(one.session(), one));
    }
    var inOrder = mixed.values().stream().sorted(Comparator.comparing(MixedCall::session)).toList();
    for (int from = 0; from < inOrder.size(); ) {
      int upto = from + sizeOfBatch(inOrder.subList(from, inOrder.size()));
      settleMixed(inOrder.subList(from, upto));
      from = upto;
    }
    return later;
  }

  /** Returns how many of these calls, at least one, share the next statement. */
  private static int sizeOfBatch(List<MixedCall> mixed) {
    int retries = 0;
    int others = 0;
    for (var one : mixed) {
      boolean isRetry = one.call().isRetry();
      retries += isRetry ? 1 : 0;
      others += isRetry ? 0 : 1;
      if (retries * MOST_MIXED + others * MOST_RETRIES > MOST_MIXED * MOST_RETRIES) {
        return retries + others - 1;
      }
    }
    return mixed.size();
  }

  private static SettleWork work(
      Map<SessionId, SettleWork> together, SessionId session, long epoch, Supplier<Fence> fence) {
    return together.computeIfAbsent(session, s -> new SettleWork(s, epoch, fence));
  }

  /** Returns retries of sessions that have got a row meanwhile. */
  private List<MixedCall> settleTogether(List<SettleWork> works) {
    var rows = new ArrayList<SettleWork>();
    var cached = new LinkedHashMap<Reader, List<SettleWork>>();
    for (var work : works) {
      switch (work.fence()) {
        case Fence.OfReader by ->
            cached.computeIfAbsent(by.reader(), reader -> new ArrayList<>()).add(work);
        case Fence.OfSession() -> rows.add(work);
      }
    }
    // Sessions that have got a row meanwhile are settled there.
    cached.forEach((reader, own) -> rows.addAll(completions.ofCached(reader, own)));
    var retried = rows.stream().flatMap(work -> work.takeRetry().stream()).toList();
    var completed = rows.stream().filter(work -> work.isToWrite() || work.isFreed()).toList();
    if (!completed.isEmpty()) {
      completions.ofRows(completed);
    }
    retried.stream().filter(RetryCall::isVoid).forEach(SettleSessions::refuseBehindFailure);
    return retried.stream().filter(call -> !call.answer().isDone()).map(RetryCall::inRow).toList();
  }

  private static void refuseBehindFailure(SettlementCall call) {
    call.answer()
        .completeExceptionally(
            new KeeperException.OutOfOrder(
                call.session(), call.first(), "the settlement before it failed"));
  }

  /**
   * Settles in one commit, in the order of the sessions, as does every statement that locks several
   * of them.
   */
  private void settleMixed(List<MixedCall> mixed) {
    try {
      var calls = mixed.stream().map(MixedCall::call).toList();
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
        // A transaction has one of the sessions locked; the others go on.
        mixed.forEach(each -> settleMixed(List.of(each)));
      } else {
        mixed.forEach(each -> each.answer().completeExceptionally(e));
      }
    } catch (RuntimeException e) {
      mixed.forEach(each -> each.answer().completeExceptionally(e));
    }
  }

  /** Retries the batch one call at a time, so that only the invalid call fails. */
  private void refuse(List<MixedCall> mixed, KeeperException.Rejected reason) {
    if (mixed.size() == 1) {
      mixed.get(0).answer().completeExceptionally(reason);
    } else {
      mixed.forEach(each -> settleMixed(List.of(each)));
    }
  }
}
