package dev.sessionkeeper.postgres.settle;

import dev.sessionkeeper.SessionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Gives a session back, behind its settlements.
 *
 * @param fence what the settlements of the hold are fenced by
 */
public record GiveBackCall(
    SessionId session, long epoch, Supplier<Fence> fence, CompletableFuture<Void> answer)
    implements SettlementCall {}
