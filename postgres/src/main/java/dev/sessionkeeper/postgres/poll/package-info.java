/**
 * When this process polls a queue: requests, signals, timers, and the result of the last poll. The
 * packages {@code claim} and {@code read} do the polling.
 */
@NullMarked
package dev.sessionkeeper.postgres.poll;

import org.jspecify.annotations.NullMarked;
