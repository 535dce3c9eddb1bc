/**
 * Polls: gives each waiting consumer a session, from memory or from a row. What a consumer does
 * with its session is in {@code lease}.
 */
@NullMarked
package dev.sessionkeeper.postgres.claim;

import org.jspecify.annotations.NullMarked;
