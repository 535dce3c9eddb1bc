/** Shows single sessions and dead letters to people: why they do not move, and what happened. */
@NullMarked
package dev.sessionkeeper.server.inspect;

import org.jspecify.annotations.NullMarked;
