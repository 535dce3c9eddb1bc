/**
 * Settlements of sessions: calls, batches of calls, their fence and their statements. Which
 * deliveries a session has open is in {@code lease}.
 */
@NullMarked
package dev.sessionkeeper.postgres.settle;

import org.jspecify.annotations.NullMarked;
