package dev.sessionkeeper.postgres.lease;

import dev.sessionkeeper.postgres.poll.Polling;
import dev.sessionkeeper.postgres.prefetch.PrefetchRoom;
import dev.sessionkeeper.postgres.queue.QueueContext;

/** The workers and limits that all held sessions of one queue share. */
public record HoldParts(
    QueueContext queue,
    SessionCalls calls,
    Polling polling,
    PrefetchRoom room,
    ForgetHold forget) {}
