package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Gives a session back, after its settlements.
 *
 * @param fence the fence of the settlements of the hold
 */
public record GiveBackCall(
    SessionId session, long epoch, Supplier<Fence> fence, CompletableFuture<Void> answer)
    implements SettlementCall {}
