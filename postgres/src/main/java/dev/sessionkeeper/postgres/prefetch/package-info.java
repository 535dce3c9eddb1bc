/**
 * Messages that this process reads ahead of its handlers, and the limits of their bytes. Who holds
 * their session is decided in {@code lease}.
 */
@NullMarked
package dev.sessionkeeper.postgres.prefetch;

import org.jspecify.annotations.NullMarked;
