/**
 * Stores messages: from the calls of senders to one statement, with duplicate detection. Reading
 * them is in {@code read} and {@code claim}.
 */
@NullMarked
package dev.sessionkeeper.postgres.send;

import org.jspecify.annotations.NullMarked;
