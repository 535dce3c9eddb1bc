package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import java.lang.reflect.Method;
import java.util.OptionalInt;

/**
 * A declared listener.
 *
 * @param concurrency sessions at once; if empty, the default of all listeners
 * @param batch messages per call; empty for one
 */
record ListenerDefinition(
    String id,
    QueueName queue,
    Object bean,
    Method method,
    OptionalInt concurrency,
    OptionalInt batch,
    boolean transactional,
    boolean autoStartup) {}
