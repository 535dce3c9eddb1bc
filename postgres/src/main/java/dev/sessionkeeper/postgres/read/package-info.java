/**
 * The process that reads the buckets it owns and keeps their sessions in memory: joins, pages, rows
 * for exceptional sessions, asks of other processes. Sessions with rows are claimed in {@code
 * claim}.
 */
@NullMarked
package dev.sessionkeeper.postgres.read;

import org.jspecify.annotations.NullMarked;
