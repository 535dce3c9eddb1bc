/**
 * A queue without sessions: receive, renew and settle by receipt. Only sending is shared, in {@code
 * send}.
 */
@NullMarked
package dev.sessionkeeper.postgres.unordered;

import org.jspecify.annotations.NullMarked;
