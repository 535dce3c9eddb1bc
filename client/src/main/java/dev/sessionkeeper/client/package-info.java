/**
 * A Java client for the HTTP API, with types for queues and leases, streams, the session registry,
 * usage and jobs. For other routes, such as GitHub events and the audit log, {@link
 * dev.sessionkeeper.client.KeeperClient} sends and returns JSON.
 */
@NullMarked
package dev.sessionkeeper.client;

import org.jspecify.annotations.NullMarked;
