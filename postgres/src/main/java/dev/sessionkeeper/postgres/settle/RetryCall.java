package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Counts a failed attempt of the first message of a session in memory. The message comes again from
 * memory, so the session needs no row.
 */
public final class RetryCall implements SettlementCall {
  private final SessionId session;
  private final long epoch;
  private final long sequence;
  private final Settlement.Retry retry;
  private final int tried;
  private final BooleanSupplier voided;
  private final Supplier<Fence> fence;
  private final CompletableFuture<Void> answer = new CompletableFuture<>();
  private volatile Way way = Way.IN_MEMORY;

  /**
   * Retries.
   *
   * @param tried all attempts of the message that have failed
   * @param voided returns, when its turn comes, whether a call before it has failed meanwhile
   * @param fence returns, when its turn comes, what its settlement is fenced by
   */
  public RetryCall(
      SessionId session,
      long epoch,
      Settled settled,
      int tried,
      BooleanSupplier voided,
      Supplier<Fence> fence) {
    this.session = session;
    this.epoch = epoch;
    this.sequence = settled.sequence();
    this.retry = (Settlement.Retry) settled.settlement();
    this.tried = tried;
    this.voided = voided;
    this.fence = fence;
  }

  /** How a retry was settled. */
  public enum Way {
    /** The attempt is counted, and the message comes again from memory. */
    IN_MEMORY,
    /** The session had got a row, which counts the attempt. */
    IN_ROW,
    /** Nothing is settled: only the row of the session can say what follows. */
    NEEDS_ROW
  }

  /**
   * Returns whether a retry is of the kind that memory can count: it comes at once, and it counts.
   */
  public static boolean isFor(Settlement settlement) {
    return settlement instanceof Settlement.Retry retry
        && retry.counted()
        && retry.delay().isZero();
  }

  /** Returns how it was settled, after it was answered. */
  public Way way() {
    return way;
  }

  /** Answers that only a row can say what follows. */
  void needsRow() {
    way = Way.NEEDS_ROW;
    answer.complete(null);
  }

  /** Returns the same retry for the row that its session has got. */
  MixedCall inRow() {
    way = Way.IN_ROW;
    var settled = new Settled(sequence, retry);
    var call = new SettleCall(session, epoch, false, List.of(settled), false, Optional.empty());
    return new MixedCall(call, voided, answer);
  }

  @Override
  public SessionId session() {
    return session;
  }

  long epoch() {
    return epoch;
  }

  long sequence() {
    return sequence;
  }

  Settlement.Retry retry() {
    return retry;
  }

  int tried() {
    return tried;
  }

  Supplier<Fence> fence() {
    return fence;
  }

  @Override
  public CompletableFuture<Void> answer() {
    return answer;
  }

  @Override
  public boolean isVoid() {
    return voided.getAsBoolean();
  }

  @Override
  public long first() {
    return sequence;
  }
}
