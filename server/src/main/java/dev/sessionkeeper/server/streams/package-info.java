/** Streams of events: publishing, and reading over SSE with resume. */
@NullMarked
package dev.sessionkeeper.server.streams;

import org.jspecify.annotations.NullMarked;
