package dev.sessionkeeper.postgres;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Completes messages of one hold, one after the other. Until its turn has come further ones join
 * it: a handler that is quick does not make a call for each of its messages.
 */
final class CompleteCall implements SettlementCall {
  private final SessionId session;
  private final long epoch;
  private final BooleanSupplier voided;
  private final Supplier<Fence> fence;
  private final CompletableFuture<Void> answer = new CompletableFuture<>();
  private final List<Settled> settlements = new ArrayList<>();
  private boolean isTaken;

  /**
   * Begins.
   *
   * @param voided asked when its turn has come: whether one before it has failed meanwhile
   * @param fence asked then too: what its settlement is fenced by
   */
  CompleteCall(
      SessionId session,
      long epoch,
      List<Settled> settlements,
      BooleanSupplier voided,
      Supplier<Fence> fence) {
    this.session = session;
    this.epoch = epoch;
    this.voided = voided;
    this.fence = fence;
    this.settlements.addAll(settlements);
  }

  /** False when it is on its way. */
  synchronized boolean join(List<Settled> further) {
    return !isTaken && settlements.addAll(further);
  }

  /** Its messages; no others join it from now on. */
  synchronized long[] take() {
    isTaken = true;
    return settlements.stream().mapToLong(Settled::sequence).toArray();
  }

  /** What it was, once it is answered. */
  synchronized List<Settled> settlements() {
    isTaken = true;
    return settlements;
  }

  @Override
  public SessionId session() {
    return session;
  }

  long epoch() {
    return epoch;
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
  public synchronized long first() {
    return settlements.get(0).sequence();
  }
}
