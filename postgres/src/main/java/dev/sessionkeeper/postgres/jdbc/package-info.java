/**
 * Connections, arrays, times and texts as the driver wants them, and answers of batched calls.
 * Nothing here knows what a queue is.
 */
@NullMarked
package dev.sessionkeeper.postgres.jdbc;

import org.jspecify.annotations.NullMarked;
