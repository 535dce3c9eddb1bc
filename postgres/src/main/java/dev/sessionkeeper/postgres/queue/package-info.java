/**
 * The identity of a queue and of this process, and what all workers share: settings, notifications,
 * count shards. Messages and sessions are not here.
 */
@NullMarked
package dev.sessionkeeper.postgres.queue;

import org.jspecify.annotations.NullMarked;
