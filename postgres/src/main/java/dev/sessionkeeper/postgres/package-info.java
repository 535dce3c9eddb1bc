/**
 * Queues in PostgreSQL. Start with {@link dev.sessionkeeper.postgres.PostgresQueueProvider}.
 *
 * <p>This package has what applications use, and the composition of the workers. The packages below
 * are internal: no other module uses them. From top to bottom, each package uses only those behind
 * it:
 *
 * <ul>
 *   <li>{@code operate}: what operators do
 *   <li>{@code claim}: gives sessions to waiting consumers
 *   <li>{@code read}: reads buckets and keeps their sessions in memory
 *   <li>{@code lease}: one held session
 *   <li>{@code settle}: settlements
 *   <li>{@code unordered}: queues without sessions
 *   <li>{@code send}: stores messages
 *   <li>{@code prefetch}: messages read ahead of handlers
 *   <li>{@code batch}: rows with several messages
 *   <li>{@code poll}: when to look for work
 *   <li>{@code row}: rows as Java types
 *   <li>{@code queue}: a queue and this process
 *   <li>{@code jdbc}: connections and parameters
 * </ul>
 */
@NullMarked
package dev.sessionkeeper.postgres;

import org.jspecify.annotations.NullMarked;
