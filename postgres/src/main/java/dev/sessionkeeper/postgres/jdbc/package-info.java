/**
 * Connections, arrays, times and texts in the form that the driver needs, and answers of batched
 * calls. Nothing here knows what a queue is.
 */
@NullMarked
package dev.sessionkeeper.postgres.jdbc;

import org.jspecify.annotations.NullMarked;
