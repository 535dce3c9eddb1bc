/**
 * OpenTelemetry spans around sends, receives, settlements, handlers and holds. The context travels
 * with each message, as the properties {@code traceparent} and {@code tracestate}.
 */
@NullMarked
package dev.sessionkeeper.tracing;

import org.jspecify.annotations.NullMarked;
