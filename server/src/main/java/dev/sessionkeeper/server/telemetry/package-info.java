/** Traces of requests and messages, and their export. */
@NullMarked
package dev.sessionkeeper.server.telemetry;

import org.jspecify.annotations.NullMarked;
