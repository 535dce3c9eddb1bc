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
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Settles sessions and gives them back: one statement and one commit for many sessions.
 *
 * <p>Completions share a statement. Other settlements, such as a retry or a state, are {@link
 * SettleCall}s and share another one. I1: calls of one session take effect in the order in which
 * they came; behind one that failed nothing does. I2: a lost lease fails alone, not its batch.
 */
public final class SettleSessions {
  private static final int MOST_CALLS = 4096;

  /** Mixed calls cost more than completions, and lock their sessions until all of them are done. */
  private static final int MOST_MIXED = 64;

  private static final Duration PACE = Duration.ofMillis(2);

  private final QueueContext queue;
  private final GroupCalls<SettlementCall> group;
  private final CompleteMessages completions;

  /**
   * Settles.
   *
   * @param isNobodyLeft returns whether no consumer works or waits for work
   * @param areSendersHeldUp returns whether senders send as fast as they are answered
   */
  public SettleSessions(
      QueueContext queue, BooleanSupplier isNobodyLeft, BooleanSupplier areSendersHeldUp) {
    this.queue = queue;
    this.completions = new CompleteMessages(queue);
    this.group =
        new GroupCalls<>(
            "keeper-settle-" + queue.name(),
            MOST_CALLS,
            Rhythm.apart(queue.time(), PACE, isNobodyLeft, areSendersHeldUp),
            this::settleAll);
  }

  public void complete(CompleteCall call) {
    group.add(call);
  }

  public CompletableFuture<Void> free(SessionId session, long epoch) {
    return free(session, epoch, Fence.OfSession::new);
  }

  /** Gives a session back. For a session in memory this is only the end of its settlements. */
  public CompletableFuture<Void> free(SessionId session, long epoch, Supplier<Fence> fence) {
    return add(new GiveBackCall(session, epoch, fence, new CompletableFuture<>()));
  }

  public CompletableFuture<Void> settle(SettleCall call) {
    return settle(call, () -> false);
  }

  public CompletableFuture<Void> settle(SettleCall call, BooleanSupplier voided) {
    return add(new MixedCall(call, voided, new CompletableFuture<>()));
  }

  private CompletableFuture<Void> add(SettlementCall call) {
    group.add(call);
    return call.answer();
  }

  private void settleAll(List<SettlementCall> calls) {
    var left = calls;
    while (!left.isEmpty()) {
      left = settleSome(left);
    }
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
        call.answer()
            .completeExceptionally(
                new KeeperException.OutOfOrder(
                    call.session(), call.first(), "the settlement before it failed"));
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
      settleTogether(List.copyOf(together.values()));
    }
    var inOrder = mixed.values().stream().sorted(Comparator.comparing(MixedCall::session)).toList();
    for (int from = 0; from < inOrder.size(); from += MOST_MIXED) {
      settleMixed(inOrder.subList(from, Math.min(from + MOST_MIXED, inOrder.size())));
    }
    return later;
  }

  private static SettleWork work(
      Map<SessionId, SettleWork> together, SessionId session, long epoch, Supplier<Fence> fence) {
    return together.computeIfAbsent(session, s -> new SettleWork(s, epoch, fence));
  }

  private void settleTogether(List<SettleWork> works) {
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
    if (!rows.isEmpty()) {
      completions.ofRows(rows);
    }
  }

  /**
   * Settles in one commit, in the order of the sessions, as every statement that locks several of
   * them.
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
