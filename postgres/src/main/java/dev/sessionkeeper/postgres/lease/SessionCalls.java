package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.prefetch.FetchMessages;
import dev.sessionkeeper.postgres.settle.SettleSessions;

/** The batched statements that the held sessions of one queue share. */
public record SessionCalls(
    SettleSessions settles, RenewLeases renewals, FetchMessages fetches, StateTable states) {}
