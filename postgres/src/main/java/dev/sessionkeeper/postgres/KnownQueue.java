package dev.sessionkeeper.postgres;

import dev.sessionkeeper.QueueMode;
import dev.sessionkeeper.QueueName;

/** The properties of a queue that never change. */
record KnownQueue(int id, QueueName name, QueueMode mode) {}
