package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.postgres.batch.Completions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The effects of one batch on one held session: completed messages, a retry, and perhaps its end.
 */
public final class SettleWork implements Completions {
  private final SessionId session;
  private final long epoch;
  private final Supplier<Fence> fence;
  private final Fence first;
  private final List<long[]> done = new ArrayList<>();
  private final List<CompletableFuture<Void>> answers = new ArrayList<>();
  private @Nullable RetryCall retry;
  private boolean isFreed;
  private KeeperException.@Nullable OutcomeUnknown doubt;

  SettleWork(SessionId session, long epoch, Supplier<Fence> fence) {
    this.session = session;
    this.epoch = epoch;
    this.fence = fence;
    this.first = fence.get();
  }

  @Override
  public SessionId session() {
    return session;
  }

  long epoch() {
    return epoch;
  }

  /** Returns the fence of its settlement, as it was when the batch was sent. */
  Fence fence() {
    return first;
  }

  /** Returns whether its session was in memory when the batch was sent. */
  boolean wasCached() {
    return first instanceof Fence.OfReader;
  }

  /** Returns whether a reader handed its session out in this epoch. */
  boolean isOf(OptionalLong readerEpoch) {
    return first instanceof Fence.OfReader reader
        && readerEpoch.isPresent()
        && readerEpoch.getAsLong() == reader.epoch();
  }

  /** Returns whether this process has persisted the session by now. */
  boolean hasRow() {
    return fence.get() instanceof Fence.OfSession;
  }

  boolean isFreed() {
    return isFreed;
  }

  @Override
  public List<long[]> done() {
    return done;
  }

  /** Adds a call. Returns false when the call is of another hold. */
  boolean complete(CompleteCall call) {
    if (call.epoch() != epoch) {
      return false;
    }
    done.add(call.take());
    answers.add(call.answer());
    return true;
  }

  /** Adds a call. Returns false when the call is of another hold. */
  boolean free(long ofEpoch, CompletableFuture<Void> answer) {
    if (ofEpoch != epoch) {
      return false;
    }
    isFreed = true;
    answers.add(answer);
    return true;
  }

  /** Adds a call. Returns false when the call is of another hold. */
  boolean retry(RetryCall call) {
    if (call.epoch() != epoch) {
      return false;
    }
    retry = call;
    return true;
  }

  /** Returns the retry of its first message behind the completed ones, if there is one. */
  Optional<RetryCall> retry() {
    return Optional.ofNullable(retry);
  }

  /** Removes its retry, which is settled in another way. */
  Optional<RetryCall> takeRetry() {
    var taken = retry();
    retry = null;
    return taken;
  }

  /** Returns whether a statement has to write anything for it. */
  boolean isToWrite() {
    return !done.isEmpty() || retry != null;
  }

  /** Records that a statement got no answer, so it may have taken effect. */
  void doubt(KeeperException.OutcomeUnknown e) {
    doubt = e;
  }

  /**
   * Fails, because the lease is lost. Nothing was changed, unless an earlier attempt took effect.
   */
  void lose() {
    var lost = new KeeperException.LockLost("session " + session, epoch);
    var unknown = doubt;
    if (unknown == null) {
      fail(lost);
    } else {
      var own = new KeeperException.OutcomeUnknown("A settlement", unknown);
      own.addSuppressed(lost);
      fail(own);
    }
  }

  /** Returns whether the failure means that the lease is lost, so that the hold has ended. */
  public static boolean isLost(@Nullable Throwable failure) {
    return failure instanceof KeeperException.LockLost
        || (failure instanceof KeeperException.OutcomeUnknown
            && Arrays.stream(failure.getSuppressed())
                .anyMatch(KeeperException.LockLost.class::isInstance));
  }

  void succeed() {
    answers.forEach(answer -> answer.complete(null));
    retry().ifPresent(call -> call.answer().complete(null));
  }

  void fail(RuntimeException e) {
    answers.forEach(answer -> answer.completeExceptionally(e));
    retry().ifPresent(call -> call.answer().completeExceptionally(e));
  }
}
