/**
 * Stores messages: from the calls of senders to one statement, with duplicate detection. The
 * packages {@code read} and {@code claim} read them.
 */
@NullMarked
package dev.sessionkeeper.postgres.send;

import org.jspecify.annotations.NullMarked;
