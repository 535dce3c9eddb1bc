/**
 * Message batches: rows with up to 64 messages, which of these are open, and whose buckets they
 * belong to. How messages get into a batch is in {@code send}.
 */
@NullMarked
package dev.sessionkeeper.postgres.batch;

import org.jspecify.annotations.NullMarked;
