/**
 * The reader: how a process becomes one, reads its buckets in pages, keeps their sessions in
 * memory, persists exceptional ones, and answers session requests. The package {@code claim} claims
 * sessions with rows.
 */
@NullMarked
package dev.sessionkeeper.postgres.read;

import org.jspecify.annotations.NullMarked;
