/**
 * Settlements of sessions: calls, batches of calls, their fence and their statements. The package
 * {@code lease} knows which deliveries a session has open.
 */
@NullMarked
package dev.sessionkeeper.postgres.settle;

import org.jspecify.annotations.NullMarked;
