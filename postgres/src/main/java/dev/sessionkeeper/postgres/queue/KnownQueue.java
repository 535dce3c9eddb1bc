package dev.sessionkeeper.postgres.queue;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;

/** The properties of a queue that never change. */
public record KnownQueue(int id, QueueName name, QueueMode mode) {}
