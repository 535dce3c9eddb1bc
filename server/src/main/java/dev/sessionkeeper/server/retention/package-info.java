/** Deletes data that is older than its retention, and erases users on request. */
@NullMarked
package dev.sessionkeeper.server.retention;

import org.jspecify.annotations.NullMarked;
