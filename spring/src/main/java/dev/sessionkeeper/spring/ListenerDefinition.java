package dev.sessionkeeper.spring;

import dev.sessionkeeper.QueueName;
import java.lang.reflect.Method;
import java.util.OptionalInt;

/**
 * A listener as it was declared.
 *
 * @param concurrency sessions at once; the registry's default where it is empty
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
