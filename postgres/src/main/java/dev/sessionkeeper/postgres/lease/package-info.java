/**
 * One held session: its lease, its deliveries, its state and their way to the handler. How a
 * session without an owner is found is in {@code claim} and {@code read}.
 */
@NullMarked
package dev.sessionkeeper.postgres.lease;

import org.jspecify.annotations.NullMarked;
