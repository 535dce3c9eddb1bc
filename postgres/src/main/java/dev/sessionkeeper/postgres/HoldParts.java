package dev.sessionkeeper.postgres;

/** What the held sessions of one queue share. */
record HoldParts(
    QueueContext queue,
    SessionCalls calls,
    Polling polling,
    PrefetchRoom room,
    OwnedSessions owned) {}
