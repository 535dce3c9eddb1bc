/** Traces of requests and messages, and where they go. */
@NullMarked
package dev.sessionkeeper.server.telemetry;

import org.jspecify.annotations.NullMarked;
