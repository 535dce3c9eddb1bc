/** Traces of requests and messages, their export, and the lines of the log. */
@NullMarked
package dev.sessionkeeper.server.telemetry;

import org.jspecify.annotations.NullMarked;
