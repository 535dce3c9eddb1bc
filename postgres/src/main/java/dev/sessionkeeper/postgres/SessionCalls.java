package dev.sessionkeeper.postgres;

/** The batched statements that the held sessions of one queue share. */
record SessionCalls(
    SettleSessions settles, RenewLeases renewals, FetchMessages fetches, StateTable states) {}
