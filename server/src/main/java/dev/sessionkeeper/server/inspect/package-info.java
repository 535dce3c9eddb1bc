/** Shows single sessions and dead letters: why they do not move, and their history. */
@NullMarked
package dev.sessionkeeper.server.inspect;

import org.jspecify.annotations.NullMarked;
