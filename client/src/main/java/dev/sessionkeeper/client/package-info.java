/** A Java client for the HTTP API: queues, sessions, dead letters, jobs, usage, events. */
@NullMarked
package dev.sessionkeeper.client;

import org.jspecify.annotations.NullMarked;
