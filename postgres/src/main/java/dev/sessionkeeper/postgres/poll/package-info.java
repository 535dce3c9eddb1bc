/**
 * When this process polls a queue: requests, signals, timers, and what the last poll left. What a
 * poll does is in {@code claim} and {@code read}.
 */
@NullMarked
package dev.sessionkeeper.postgres.poll;

import org.jspecify.annotations.NullMarked;
