package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.spi.HeldSession.Settled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Completes messages of one hold, one after the other. Further messages join the call until it is
 * sent, so a quick handler does not cause a call for each message.
 */
public final class CompleteCall implements SettlementCall {
  private final SessionId session;
  private final long epoch;
  private final BooleanSupplier voided;
  private final Supplier<Fence> fence;
  private final CompletableFuture<Void> answer = new CompletableFuture<>();
  private final List<Settled> settlements = new ArrayList<>();
  private boolean isTaken;

  /**
   * Creates a call.
   *
   * @param voided returns, when the call is sent, whether an earlier call has failed meanwhile
   * @param fence returns, when the call is sent, the fence of its settlement
   */
  public CompleteCall(
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

  /** Adds further messages. Returns false if the call was sent already. */
  public synchronized boolean join(List<Settled> further) {
    return !isTaken && settlements.addAll(further);
  }

  /** Returns its messages. No others join the call from now on. */
  synchronized long[] take() {
    isTaken = true;
    return settlements.stream().mapToLong(Settled::sequence).toArray();
  }

  /** Returns its settlements, after the call was answered. */
  public synchronized List<Settled> settlements() {
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
