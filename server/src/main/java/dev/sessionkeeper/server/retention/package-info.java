/** Removes what is older than its retention, and the traces of a user on request. */
@NullMarked
package dev.sessionkeeper.server.retention;

import org.jspecify.annotations.NullMarked;
