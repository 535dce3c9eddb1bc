/**
 * Scheduled work that one node runs at a time, under a fenced lease in the database. Start at
 * {@link dev.sessionkeeper.jobs.Jobs}.
 */
@NullMarked
package dev.sessionkeeper.jobs;

import org.jspecify.annotations.NullMarked;
