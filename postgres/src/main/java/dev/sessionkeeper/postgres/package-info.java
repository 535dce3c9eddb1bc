/**
 * Queues in PostgreSQL: producers append, consumers keep the lanes. Start with {@link
 * dev.sessionkeeper.postgres.PostgresQueueProvider}.
 */
@NullMarked
package dev.sessionkeeper.postgres;

import org.jspecify.annotations.NullMarked;
