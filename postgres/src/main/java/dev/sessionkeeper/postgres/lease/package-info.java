/**
 * One held session: its lease, its deliveries, its state and their way to the handler. The packages
 * {@code claim} and {@code read} find sessions without an owner.
 */
@NullMarked
package dev.sessionkeeper.postgres.lease;

import org.jspecify.annotations.NullMarked;
