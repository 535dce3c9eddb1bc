/**
 * Runs a handler over all sessions of a queue: sessions in parallel, messages of a session in
 * order.
 */
@NullMarked
package dev.sessionkeeper.processor;

import org.jspecify.annotations.NullMarked;
