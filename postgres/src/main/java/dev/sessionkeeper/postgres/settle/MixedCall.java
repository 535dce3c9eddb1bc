package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.SessionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Settles messages in other ways than by completing them, or writes a state.
 *
 * @param voided returns whether an earlier call has failed since this one was sent
 */
public record MixedCall(SettleCall call, BooleanSupplier voided, CompletableFuture<Void> answer)
    implements SettlementCall {
  @Override
  public SessionId session() {
    return call.session();
  }

  @Override
  public boolean isVoid() {
    return voided.getAsBoolean();
  }

  void answer(SettleOutcome outcome) {
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
